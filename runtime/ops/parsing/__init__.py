"""Operations that parse records of TFRecord files."""
