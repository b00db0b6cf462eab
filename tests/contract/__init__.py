"""What every implementation of a border keeps: the same cases over both engines, and over every transport."""
