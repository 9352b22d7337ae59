"""Operations on lookup tables."""
