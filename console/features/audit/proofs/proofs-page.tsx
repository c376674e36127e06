import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { Page } from '#console/ui/layout/page.tsx'
import { Tabs } from '#console/ui/layout/tabs.tsx'
import { choiceParam, integerParam, textParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { auditorPage } from '../elements/auditor-page.tsx'
import { CheckpointsPanel } from './checkpoints-panel.tsx'
import { EventExportPanel } from './event-export-panel.tsx'
import { VerificationsPanel } from './event-log-verifications-panel.tsx'
import { RebuildsPanel } from './read-model-rebuilds-panel.tsx'
import { CopiesPanel } from './scratch-copies-panel.tsx'
import '../audit.css'
import '#console/ui/forms/forms.css'
import './proofs.css'

const TABS = ['verify', 'checkpoints', 'export', 'rebuilds', 'copies'] as const
/**
 * The tabs that are available while a scratch copy (the site as of an earlier time) is open. The
 * other tabs show jobs, which run only on the live site.
 */
const TABS_IN_COPY: readonly ProofsTab[] = ['copies']
type ProofsTab = (typeof TABS)[number]

const URL_PARAMS = {
  tab: choiceParam<ProofsTab>(TABS, 'verify'),
  id: textParam('', 64),
  /** A new scratch copy contains the events before this position of the event log. */
  before: integerParam({ fallback: 0, max: 999_999_999_999_999 }),
}

export const ProofsPage = auditorPage('shell.proofs', Proofs)

function Proofs() {
  const { t } = useTranslation()
  const [values, set] = useUrlState(URL_PARAMS)
  const { id, before } = values
  const tabs = currentScratchCopy() === null ? TABS : TABS_IN_COPY
  const tab = tabs.find((name) => name === values.tab) ?? tabs[0] ?? values.tab
  const panels: Record<ProofsTab, () => ReactElement> = {
    verify: () => <VerificationsPanel id={id} onSelect={(selected) => set({ id: selected })} />,
    checkpoints: () => <CheckpointsPanel />,
    export: () => <EventExportPanel />,
    rebuilds: () => <RebuildsPanel />,
    copies: () => <CopiesPanel before={before} />,
  }
  return (
    <Page title={t('shell.proofs')} lead={t('audit.proofs.lead')}>
      <Tabs
        label={t('shell.proofs')}
        tabs={tabs.map((name) => ({ id: name, title: t(`audit.proofs.tab.${name}`) }))}
        selected={tab}
        onSelect={(name) => set({ tab: name, id: '', before: 0 })}
      >
        {panels[tab]()}
      </Tabs>
    </Page>
  )
}
