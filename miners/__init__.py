"""Read repositories, never execute: clones, walks, changes of methods and what they depend on."""
