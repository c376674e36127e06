import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { useParams } from 'react-router-dom'
import { Page } from '#console/ui/layout/page.tsx'
import { Tabs } from '#console/ui/layout/tabs.tsx'
import { choiceParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { rangeParam, relativeRange, zoneName } from '#console/ui/time-range/time-range.ts'
import { MOVEMENT_TYPES, type MovementType } from '#read-api/contract/movement-types.ts'
import { asOfParam } from '../elements/as-of-filter.tsx'
import { auditorPage } from '../elements/auditor-page.tsx'
import { monthParam, presentMonth } from '../elements/month.ts'
import type { Account } from './ledger-queries.ts'
import { MonthStatement } from './month-statement.tsx'
import { Movements } from './movements.tsx'
import '../audit.css'
import './ledger.css'

const TABS = ['movements', 'statement'] as const

const URL_PARAMS = {
  tab: choiceParam<(typeof TABS)[number]>(TABS, 'movements'),
  range: rangeParam(relativeRange('30d')),
  type: choiceParam<MovementType | ''>(['', ...MOVEMENT_TYPES], ''),
  at: asOfParam,
  month: monthParam,
}

/** The bill of the current user. */
export function LedgerPage() {
  const { t } = useTranslation()
  return <Ledger account={null} title={t('shell.ledger')} />
}

export const UserLedgerPage = auditorPage('shell.ledgers', UserLedger)

function UserLedger() {
  const { t } = useTranslation()
  const userId = Number(useParams().userId)
  return <Ledger key={userId} account={userId} title={t('audit.ledger.ofUser', { id: userId })} />
}

function Ledger({ account, title }: { account: Account; title: string }) {
  const { t } = useTranslation()
  const [values, set] = useUrlState(URL_PARAMS)
  const month = values.month === '' ? presentMonth() : values.month
  const panels: Record<(typeof TABS)[number], () => ReactElement> = {
    movements: () => <Movements account={account} filters={values} onFilters={set} />,
    statement: () => (
      <MonthStatement account={account} month={month} onMonth={(next) => set({ month: next })} />
    ),
  }
  return (
    <Page title={title} lead={t('audit.ledger.lead', { zone: zoneName() })}>
      <Tabs
        label={title}
        tabs={TABS.map((id) => ({ id, title: t(`audit.ledger.tab.${id}`) }))}
        selected={values.tab}
        onSelect={(tab) => set({ tab })}
      >
        {panels[values.tab]()}
      </Tabs>
    </Page>
  )
}
