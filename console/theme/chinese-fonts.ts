// A chunk of its own: its list of character ranges is larger than all other styles together.
import '@fontsource/noto-sans-sc/400.css'
import '@fontsource/noto-sans-sc/600.css'
