// Loads zone.js, after its settings.
import './zone-settings.js';
import 'zone.js';
