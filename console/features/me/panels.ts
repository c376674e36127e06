import { AccountPanel } from './account-panel.tsx'
import { BindingsPanel } from './bindings-panel.tsx'
import { CheckInPanel } from './check-in-panel.tsx'
import { InvitePanel } from './invite-panel.tsx'
import { MailPanel } from './mail-panel.tsx'
import type { MePanel } from './me-panel.ts'
import { ModelsPanel } from './models-panel.tsx'
import { SettingsPanel } from './settings-panel.tsx'

/** One line per panel, in the order of the page. */
export const PANELS: readonly MePanel[] = [
  { id: 'models', column: 'main', Panel: ModelsPanel },
  { id: 'settings', column: 'main', Panel: SettingsPanel },
  { id: 'check-in', column: 'side', Panel: CheckInPanel },
  { id: 'invites', column: 'side', Panel: InvitePanel },
  { id: 'mail', column: 'side', Panel: MailPanel },
  { id: 'bindings', column: 'side', Panel: BindingsPanel },
  { id: 'account', column: 'side', Panel: AccountPanel },
]
