"""What is measured of gold tests beside their cells; each module takes a workshop and plain records."""
