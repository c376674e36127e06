import { AccessTokenPanel } from './access-token-panel.tsx'
import { AccountPanel } from './account-panel.tsx'
import { BindingsPanel } from './bindings-panel.tsx'
import { CheckInPanel } from './check-in-panel.tsx'
import { InvitePanel } from './invite-panel.tsx'
import { MailPanel } from './mail-panel.tsx'
import type { MePanel } from './me-panel.ts'
import { ModelsPanel } from './models-panel.tsx'
import { SessionsPanel } from './sessions-panel.tsx'
import { SettingsPanel } from './settings-panel.tsx'
import { TwoStepPanel } from './two-step-panel.tsx'

/** One line per panel, in the order of the page. */
export const PANELS: readonly MePanel[] = [
  { id: 'models', column: 'main', Panel: ModelsPanel },
  { id: 'settings', column: 'main', Panel: SettingsPanel },
  { id: 'two-step', column: 'main', Panel: TwoStepPanel },
  { id: 'sessions', column: 'main', Panel: SessionsPanel },
  { id: 'check-in', column: 'side', Panel: CheckInPanel },
  { id: 'invites', column: 'side', Panel: InvitePanel },
  { id: 'mail', column: 'side', Panel: MailPanel },
  { id: 'bindings', column: 'side', Panel: BindingsPanel },
  { id: 'access-token', column: 'side', Panel: AccessTokenPanel },
  { id: 'account', column: 'side', Panel: AccountPanel },
]
