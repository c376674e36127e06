import type { MePanel } from './me-panel.ts'
import { ModelsPanel } from './models-panel.tsx'

/** One line per panel, in the order of the page. */
export const PANELS: readonly MePanel[] = [{ id: 'models', column: 'main', Panel: ModelsPanel }]
