import { type ReactElement, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { IdentityProofHost } from '#console/ui/identity-proof/retry-with-identity-proof.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Tabs } from '#console/ui/layout/tabs.tsx'
import { choiceParam, flagParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { auditorsOnlyPage } from '../elements/auditors-only-page.tsx'
import { dayParam } from '../elements/utc-month.tsx'
import { SCOPE_PARAMS } from './call-scope-filters.tsx'
import { CorrectionsPanel } from './corrections-panel.tsx'
import { MarginsPanel } from './margins-panel.tsx'
import { ProviderInvoicesPanel } from './provider-invoices-panel.tsx'
import { RecomputePanel } from './recompute-panel.tsx'
import { WhatIfPanel } from './what-if-panel.tsx'
import { NO_DRAFT } from './what-if-price-draft.ts'
import '../audit.css'
import '../proofs/proofs.css'
import '#console/ui/forms/forms.css'
import './reconciliation.css'

const TABS = ['recompute', 'whatIf', 'corrections', 'invoices', 'margins'] as const
type ReconciliationTab = (typeof TABS)[number]

const URL_PARAMS = {
  ...SCOPE_PARAMS,
  tab: choiceParam<ReconciliationTab>(TABS, 'recompute'),
  new: flagParam(),
  first: dayParam,
  last: dayParam,
}

export const ReconciliationPage = auditorsOnlyPage('shell.reconciliation', Reconciliation)

function Reconciliation() {
  const { t } = useTranslation()
  const [{ tab, new: isNew, first, last, ...scope }, set] = useUrlState(URL_PARAMS)
  // The page keeps the draft of the what-if prices, so that the draft is not lost when the user
  // opens another tab.
  const [draft, setDraft] = useState(NO_DRAFT)
  const panels: Record<ReconciliationTab, () => ReactElement> = {
    recompute: () => <RecomputePanel scope={scope} onScope={set} />,
    whatIf: () => <WhatIfPanel scope={scope} onScope={set} draft={draft} onDraft={setDraft} />,
    corrections: () => (
      <CorrectionsPanel
        scope={scope}
        onScope={set}
        isNew={isNew}
        onNew={(next) => set({ new: next })}
        draft={draft}
      />
    ),
    invoices: () => <ProviderInvoicesPanel isNew={isNew} onNew={(next) => set({ new: next })} />,
    margins: () => <MarginsPanel days={{ first, last }} onDays={set} />,
  }
  return (
    <Page title={t('shell.reconciliation')} lead={t('reconciliation.lead')}>
      <Tabs
        label={t('shell.reconciliation')}
        tabs={TABS.map((name) => ({ id: name, title: t(`reconciliation.tab.${name}`) }))}
        selected={tab}
        onSelect={(name) => set({ tab: name, new: false })}
      >
        <div className="tg-proofs-stack">{panels[tab]()}</div>
      </Tabs>
      <IdentityProofHost />
    </Page>
  )
}
