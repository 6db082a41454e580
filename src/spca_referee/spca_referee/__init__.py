"""Levels and the contact referee. Judges by contacts and ground truth, which no other stage may see."""
