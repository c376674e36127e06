import { useQuery } from '@tanstack/react-query'
import type { TFunction } from 'i18next'
import type { ReactElement, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useParams } from 'react-router-dom'
import { currentScratchCopy } from '#console/api/scratch-copy.ts'
import { isAdmin, useUser } from '#console/api/session.ts'
import { ButtonLink } from '#console/ui/elements/button-link.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Tabs } from '#console/ui/layout/tabs.tsx'
import { choiceParam } from '#console/ui/state/url-state.ts'
import { useUrlState } from '#console/ui/state/use-url-state.ts'
import { rangeParam, relativeRange, zoneName } from '#console/ui/time-range/time-range.ts'
import { MOVEMENT_TYPES, type MovementType } from '#read-api/contract/ledger-movement-types.ts'
import { asOfParam } from '../elements/as-of-filter.tsx'
import { auditorsOnlyPage } from '../elements/auditors-only-page.tsx'
import { currentMonth, monthParam } from '../elements/utc-month.tsx'
import { type Account, ledgerOwnerQuery } from './ledger-queries.ts'
import { MonthStatement } from './month-statement.tsx'
import { MovementList } from './movement-list.tsx'
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

/** Shows the ledger of the logged-in user, which lists all changes of the balance. */
export function LedgerPage() {
  const { t } = useTranslation()
  return <Ledger account={null} title={t('shell.ledger')} />
}

export const UserLedgerPage = auditorsOnlyPage('shell.ledgers', UserLedger)

function UserLedger() {
  const { t } = useTranslation()
  const id = Number(useParams().userId)
  const { data: name } = useQuery(ledgerOwnerQuery(id))
  // The pages of users are not available while a scratch copy (the site as of an earlier time) is
  // open.
  const mayOpenUser = isAdmin(useUser()) && currentScratchCopy() === null && name !== undefined
  return (
    <Ledger
      key={id}
      account={id}
      title={titleOf(t, id, name)}
      actions={
        mayOpenUser && <ButtonLink to={`/user/edit/${id}`}>{t('audit.ledger.openUser')}</ButtonLink>
      }
    />
  )
}

/**
 * Returns the title of a user's ledger. `name` is undefined if it has not been loaded, and empty if
 * the user was erased.
 */
function titleOf(t: TFunction, id: number, name: string | undefined): string {
  if (name === undefined) return t('audit.ledger.ofUser', { id })
  return name === ''
    ? t('audit.ledger.ofErasedUser', { id })
    : t('audit.ledger.ofNamedUser', { id, name })
}

function Ledger(props: { account: Account; title: string; actions?: ReactNode }) {
  const { t } = useTranslation()
  const { account, title, actions } = props
  const [values, set] = useUrlState(URL_PARAMS)
  const month = values.month === '' ? currentMonth() : values.month
  const panels: Record<(typeof TABS)[number], () => ReactElement> = {
    movements: () => <MovementList account={account} filters={values} onFilters={set} />,
    statement: () => (
      <MonthStatement account={account} month={month} onMonth={(next) => set({ month: next })} />
    ),
  }
  return (
    <Page title={title} lead={t('audit.ledger.lead', { zone: zoneName() })} actions={actions}>
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
