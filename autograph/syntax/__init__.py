"""Source code as gast trees and back: finding it, parsing, printing, and templates of code."""
