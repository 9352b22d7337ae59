"""Codecs of images, by Pillow, which the extra `image` installs."""
