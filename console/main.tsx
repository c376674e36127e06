import './theme/styles.css'
import { createRoot } from 'react-dom/client'
import { App } from './app/app.tsx'
import { startI18n } from './i18n/i18n.ts'
import { loadChineseFonts } from './theme/chinese-fonts.ts'
import { followTheme } from './theme/theme-mode.ts'

followTheme()
await startI18n()
const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<App />)
loadChineseFonts().catch(() => {})
