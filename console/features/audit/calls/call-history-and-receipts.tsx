import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { isAuditor, useUser } from '#console/api/session.ts'
import { stamp } from '#console/ui/elements/time.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import type { CallExplanation } from '#read-api/contract/calls.ts'
import { ExactQuota, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { DataTable, type TableRow } from '../elements/data-table.tsx'
import { ReceiptList, refetchWhilePending, SaveReceipts } from '../elements/receipt-list.tsx'

type AccountEvent = Pick<
  CallExplanation['raised_holds'][number],
  'position' | 'revision' | 'created_at' | 'balance_after' | 'held_after'
>

/**
 * Lists the events by which a call changed the balance or the held quota of the account, from the
 * admission of the call to its end.
 */
export function CallHistory({ call }: { call: CallExplanation }) {
  const { t } = useTranslation()
  const { admission, raised_holds: raises, end } = call
  const row = (event: AccountEvent, what: string, hold: number | null, charge: number | null) => ({
    key: String(event.position),
    cells: [
      `#${event.revision}`,
      stamp(event.created_at),
      what,
      <ExactQuota key="hold" value={hold} />,
      <ExactQuota key="charge" value={charge} />,
      <ExactQuota key="balance" value={event.balance_after} />,
      <ExactQuota key="held" value={event.held_after} />,
    ],
  })
  const rows: TableRow[] = [
    ...(admission === null ? [] : [row(admission, t('audit.call.admitted'), admission.hold, null)]),
    ...raises.map((raise) => row(raise, t('audit.call.raised'), raise.hold, null)),
    ...(end === null ? [] : [row(end, t(`audit.call.end.${endName(call)}`), 0, end.charge)]),
  ]
  return (
    <Panel title={t('audit.call.history')} lead={t('audit.call.historyLead')}>
      <DataTable
        label={t('audit.call.history')}
        heads={[
          t('audit.revision'),
          t('audit.time'),
          t('audit.event'),
          { end: t('audit.call.hold') },
          { end: t('audit.call.charge') },
          { end: t('audit.balanceAfter') },
          { end: t('audit.heldAfter') },
        ]}
        rows={rows}
      />
      {admission !== null && admission.client_ip !== '' && (
        <p className="tg-hint">{t('audit.call.from', { ip: admission.client_ip })}</p>
      )}
    </Panel>
  )
}

const endName = ({ status }: CallExplanation) => (status === 'open' ? 'settled' : status)

/**
 * Lists the corrections of a call's charge, oldest first. Shows nothing for a call without
 * corrections.
 */
export function CallCorrections({ call }: { call: CallExplanation }) {
  const { t } = useTranslation()
  const isAudit = isAuditor(useUser())
  const { corrections = [] } = call
  if (corrections.length === 0) return null
  const hasUnpaid = corrections.some(({ unpaid }) => unpaid > 0)
  return (
    <Panel title={t('audit.call.corrections')} lead={t('audit.call.correctionsLead')}>
      <DataTable
        label={t('audit.call.corrections')}
        heads={[
          t('audit.revision'),
          t('audit.time'),
          { end: t('audit.call.chargeBefore') },
          { end: t('audit.call.chargeAfter') },
          { end: t('audit.call.balanceChange') },
          ...(hasUnpaid ? [{ end: t('audit.call.unpaid') }] : []),
          ...(isAudit ? [t('audit.actor')] : []),
          t('audit.acts.reason'),
        ]}
        rows={corrections.map((one) => ({
          key: String(one.position),
          cells: [
            `#${one.revision}`,
            stamp(one.created_at),
            <ExactQuota key="charge" value={one.charge} />,
            <ExactQuota key="corrected" value={one.corrected} />,
            <QuotaChange key="change" value={-one.amount} />,
            ...(hasUnpaid ? [<ExactQuota key="unpaid" value={one.unpaid} />] : []),
            ...(isAudit ? [one.requested_by.name || `#${one.requested_by.id}`] : []),
            one.reason || '–',
          ],
        }))}
      />
    </Panel>
  )
}

/**
 * Shows the receipts for the admission and the end of a call, and for later corrections of its
 * charge. A receipt proves that an event is part of the history whose hash the site has signed.
 */
export function CallReceipts({ requestId }: { requestId: string }) {
  const { t } = useTranslation()
  const query = useQuery({
    ...apiQuery('GET /api/audit/receipts/:requestId', { params: { requestId } }),
    refetchInterval: refetchWhilePending,
  })
  return (
    <Panel
      title={t('audit.receipt.title')}
      lead={t('audit.receipt.lead')}
      actions={<SaveReceipts receipts={query.data} id={requestId} />}
    >
      <QueryView query={query} height={160}>
        {(receipts) => (
          <>
            {receipts.unproven_corrections > 0 && (
              <Alert tone="bad">
                {t('audit.call.unprovenCorrections', { count: receipts.unproven_corrections })}
              </Alert>
            )}
            <ReceiptList receipts={receipts} />
          </>
        )}
      </QueryView>
    </Panel>
  )
}
