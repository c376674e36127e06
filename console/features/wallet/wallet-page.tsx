import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { LabelledValue } from '#console/ui/elements/labelled-value.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Page } from '#console/ui/layout/page.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { LogEntry } from '#read-api/contract/logs.ts'
import type { User } from '#read-api/contract/users.ts'
import { OrdersPanel } from './orders-panel.tsx'
import { PendingPaymentNote } from './pending-payment-note.tsx'
import { RedeemPanel } from './redeem-panel.tsx'
import { TopUpPanel } from './top-up-panel.tsx'
import { useBalanceAndCredits } from './use-balance-and-credits.ts'
import '../../ui/forms/forms.css'
import './wallet.css'

function CreditsPanel({ query }: { query: UseQueryResult<LogEntry[]> }) {
  const { t } = useTranslation()
  return (
    <Panel
      title={t('wallet.additions')}
      lead={t('wallet.additionsLead')}
      actions={<Link to="/app/ledger">{t('wallet.allAdditions')}</Link>}
    >
      <QueryView query={query} height={200}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState
              icon="wallet"
              title={t('wallet.noAdditions')}
              body={t('wallet.noAdditionsLead')}
            />
          ) : (
            <ul className="tg-wallet-gains">
              {rows.map((row) => (
                <CreditRow key={row.id} row={row} />
              ))}
            </ul>
          )
        }
      </QueryView>
    </Panel>
  )
}

function CreditRow({ row }: { row: LogEntry }) {
  const rule = useMoneyRule()
  const amount = quotaOf(row.quota)
  const text = exactQuotaText(amount, rule)
  return (
    <li>
      <span className="tg-wallet-reason">{row.content}</span>
      <span className={amount > 0n ? 'tg-wallet-plus' : 'tg-wallet-minus'}>
        {amount > 0n ? `+${text}` : text}
      </span>
      <span className="tg-wallet-when">
        <Time at={row.created_at} />
      </span>
    </li>
  )
}

function BalanceCard({ user }: { user: User | undefined }) {
  const { t } = useTranslation()
  const rule = useMoneyRule()
  const number = useNumberFormat()
  const wait = <Skeleton width={90} height={22} />
  const quota = (wire: number | undefined) =>
    wire === undefined ? wait : exactQuotaText(quotaOf(wire), rule)
  return (
    <section className="tg-wallet-card" aria-label={t('shared.currentBalance')}>
      <dl className="tg-wallet-figures">
        <div className="tg-wallet-balance">
          <dt>{t('shared.currentBalance')}</dt>
          <dd>{quota(user?.quota)}</dd>
        </div>
        <LabelledValue name={t('wallet.used')}>{quota(user?.used_quota)}</LabelledValue>
        <LabelledValue name={t('shared.requests')}>
          {user === undefined ? wait : number.format(user.request_count)}
        </LabelledValue>
      </dl>
      {user !== undefined && user.quota < 0 && (
        <p className="tg-wallet-arrears">
          <Icon name="alert" size={14} /> {t('wallet.arrears')}
        </p>
      )}
    </section>
  )
}

export function WalletPage() {
  const { t } = useTranslation()
  const { self, credits } = useBalanceAndCredits()
  return (
    <Page title={t('shell.wallet')} lead={t('wallet.lead')}>
      <PendingPaymentNote />
      <QueryView query={self} waiting={<BalanceCard user={undefined} />}>
        {(user) => <BalanceCard user={user} />}
      </QueryView>
      <div className="tg-columns tg-wallet-columns">
        <div className="tg-wallet-ways">
          {PANELS.map(({ id, Panel }) => (
            <Panel key={id} />
          ))}
        </div>
        <CreditsPanel query={credits} />
      </div>
    </Page>
  )
}

const PANELS: readonly WalletPanel[] = [
  { id: 'redeem', Panel: RedeemPanel },
  { id: 'top-up', Panel: TopUpPanel },
  { id: 'orders', Panel: OrdersPanel },
]

type WalletPanel = {
  readonly id: string
  readonly Panel: () => ReactElement | null
}
