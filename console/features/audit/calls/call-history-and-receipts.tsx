import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery, call } from '#console/api/client.ts'
import { isAuditor, useUser } from '#console/api/session.ts'
import { stamp } from '#console/ui/elements/time.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import { QueryView } from '#console/ui/layout/query-view.tsx'
import { Alert } from '#console/ui/messages/alert.tsx'
import type { CallExplanation } from '#read-api/contract/calls.ts'
import { ExactQuota, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { ReceiptList, refetchWhilePending, SaveReceipts } from '../elements/receipt-list.tsx'
import { ColumnTable } from '../elements/small-tables.tsx'

type AccountEvent = Pick<
  CallExplanation['raised_holds'][number],
  'position' | 'revision' | 'created_at' | 'balance_after' | 'held_after'
>

/**
 * Lists the events by which a call changed the balance or the held quota of the account: the
 * admission, the increases of the hold, and the end if the call has ended.
 */
export function CallHistory({ call }: { call: CallExplanation }) {
  const { t } = useTranslation()
  const { admission, raised_holds: raises, end } = call
  const row = (
    event: AccountEvent,
    what: string,
    hold: number | null,
    charge: number | null = null,
  ) => ({ event, what, hold, charge })
  const rows = [
    ...(admission === null ? [] : [row(admission, t('audit.call.admitted'), admission.hold)]),
    ...raises.map((raise) => row(raise, t('audit.call.raised'), raise.hold)),
    ...(end === null ? [] : [row(end, t(`audit.call.end.${endName(call)}`), 0, end.charge)]),
  ]
  return (
    <Panel title={t('audit.call.history')} lead={t('audit.call.historyLead')}>
      <ColumnTable
        label={t('audit.call.history')}
        rows={rows}
        rowKey={({ event }) => String(event.position)}
        columns={[
          [t('audit.revision'), ({ event }) => `#${event.revision}`],
          [t('shared.time'), ({ event }) => stamp(event.created_at)],
          [t('audit.event'), ({ what }) => what],
          [{ end: t('shared.hold') }, ({ hold }) => <ExactQuota value={hold} />],
          [{ end: t('audit.call.charge') }, ({ charge }) => <ExactQuota value={charge} />],
          [
            { end: t('audit.balanceAfter') },
            ({ event }) => <ExactQuota value={event.balance_after} />,
          ],
          [{ end: t('audit.heldAfter') }, ({ event }) => <ExactQuota value={event.held_after} />],
        ]}
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
      <ColumnTable
        label={t('audit.call.corrections')}
        rows={corrections}
        rowKey={({ position }) => String(position)}
        columns={[
          [t('audit.revision'), ({ revision }) => `#${revision}`],
          [t('shared.time'), ({ created_at: at }) => stamp(at)],
          [{ end: t('audit.call.chargeBefore') }, ({ charge }) => <ExactQuota value={charge} />],
          [
            { end: t('audit.call.chargeAfter') },
            ({ corrected }) => <ExactQuota value={corrected} />,
          ],
          [{ end: t('audit.call.balanceChange') }, ({ amount }) => <QuotaChange value={-amount} />],
          hasUnpaid && [
            { end: t('audit.call.unpaid') },
            ({ unpaid }) => <ExactQuota value={unpaid} />,
          ],
          isAudit && [t('audit.actor'), ({ requested_by: by }) => by.name || `#${by.id}`],
          [t('audit.acts.reason'), ({ reason }) => reason || '–'],
        ]}
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
  const readSince = (size: number) =>
    call('GET /api/audit/receipts/:requestId', {
      ...{ params: { requestId }, query: { since_size: size } },
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
            <ReceiptList receipts={receipts} id={requestId} readSince={readSince} />
          </>
        )}
      </QueryView>
    </Panel>
  )
}
