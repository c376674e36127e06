import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { useTranslation } from 'react-i18next'
import { Link } from 'react-router-dom'
import { apiQuery, call } from '#console/api/client.ts'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import type { LedgerItem } from '#read-api/contract/ledger.ts'
import { ExactQuota, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { ReceiptList, refetchWhilePending, SaveReceipts } from '../elements/receipt-list.tsx'
import { ColumnTable, Facts } from '../elements/small-tables.tsx'
import { type Account, correctedCallsQuery } from './ledger-queries.ts'
import { MovementSource, movementReasonText } from './movement-text.tsx'

/**
 * Shows the details of a movement (a change of an account's balance). These are the facts without a
 * column in the list, the calls whose charges the movement corrected, and the receipt.
 */
export function MovementDetails({ account, item }: { account: Account; item: LedgerItem }) {
  const { t } = useTranslation()
  return (
    <div className="tg-audit-act">
      <Facts
        facts={[
          [t('shared.source'), <MovementSource key="source" item={item} account={account} />],
          [t('audit.acts.reason'), movementReasonText(t, item)],
        ]}
      />
      {item.type === 'correction' && <CorrectedCalls account={account} position={item.position} />}
      <MovementReceipt position={item.position} />
    </div>
  )
}

function CorrectedCalls({ account, position }: { account: Account; position: number }) {
  const { t } = useTranslation()
  const query = useQuery(correctedCallsQuery(account, position))
  return (
    <QueryView query={query} height={120}>
      {({ calls, reason }) => (
        <>
          <Facts facts={[[t('audit.acts.reason'), reason]]} />
          <ColumnTable
            label={t('audit.ledger.correctedCalls')}
            rows={calls}
            rowKey={({ request_id: id }) => id}
            columns={[
              [
                t('shared.requestId'),
                ({ request_id: id }) => (
                  <Link to={`/app/calls/${encodeURIComponent(id)}`}>
                    <code>{id}</code>
                  </Link>
                ),
              ],
              [
                { end: t('audit.call.chargeBefore') },
                ({ charge }) => <ExactQuota value={charge} />,
              ],
              [
                { end: t('audit.call.chargeAfter') },
                ({ corrected }) => <ExactQuota value={corrected} />,
              ],
              [
                { end: t('audit.call.balanceChange') },
                ({ amount }) => <QuotaChange value={-amount} />,
              ],
            ]}
          />
        </>
      )}
    </QueryView>
  )
}

/**
 * Shows the receipt for a movement. The receipt proves that the event at `position`, which caused
 * the movement, is part of the history.
 */
function MovementReceipt({ position }: { position: number }) {
  const { t } = useTranslation()
  const id = useId()
  const query = useQuery({
    ...apiQuery('GET /api/audit/receipts', { query: { position } }),
    refetchInterval: refetchWhilePending,
  })
  const readSince = (size: number) =>
    call('GET /api/audit/receipts', { query: { position, since_size: size } })
  return (
    <section className="tg-ledger-receipt" aria-labelledby={id}>
      <header className="tg-ends">
        <h2 id={id}>{t('audit.receipt.title')}</h2>
        <SaveReceipts receipts={query.data} id={String(position)} />
      </header>
      <QueryView query={query} height={200}>
        {(receipts) => (
          <ReceiptList receipts={receipts} id={String(position)} readSince={readSince} />
        )}
      </QueryView>
    </section>
  )
}
