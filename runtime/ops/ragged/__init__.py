"""Operations on row partitions."""
