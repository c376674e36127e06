import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Page } from '#console/ui/layout/page.tsx'
import { Tabs } from '#console/ui/layout/tabs.tsx'
import { choiceParam, textParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { auditorPage } from '../elements/auditor-page.tsx'
import { CheckpointsPanel } from './checkpoints-panel.tsx'
import { ExportPanel } from './export-panel.tsx'
import { RebuildsPanel } from './rebuilds-panel.tsx'
import { VerificationsPanel } from './verifications-panel.tsx'
import '../audit.css'
import '#console/ui/forms/forms.css'
import './proofs.css'

const TABS = ['verify', 'checkpoints', 'export', 'rebuilds'] as const
type ProofsTab = (typeof TABS)[number]

const URL_PARAMS = { tab: choiceParam<ProofsTab>(TABS, 'verify'), id: textParam('', 64) }

export const ProofsPage = auditorPage('shell.proofs', Proofs)

function Proofs() {
  const { t } = useTranslation()
  const [{ tab, id }, set] = useUrlState(URL_PARAMS)
  const panels: Record<ProofsTab, () => ReactElement> = {
    verify: () => <VerificationsPanel id={id} onSelect={(selected) => set({ id: selected })} />,
    checkpoints: () => <CheckpointsPanel />,
    export: () => <ExportPanel />,
    rebuilds: () => <RebuildsPanel />,
  }
  return (
    <Page title={t('shell.proofs')} lead={t('audit.proofs.lead')}>
      <Tabs
        label={t('shell.proofs')}
        tabs={TABS.map((name) => ({ id: name, title: t(`audit.proofs.tab.${name}`) }))}
        selected={tab}
        onSelect={(name) => set({ tab: name, id: '' })}
      >
        {panels[tab]()}
      </Tabs>
    </Page>
  )
}
