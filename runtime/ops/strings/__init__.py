"""Operations on strings."""
