import { useTranslation } from 'react-i18next'
import { stamp } from '#console/ui/elements/time.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import type { CallExplanation } from '#read-api/contract/calls.ts'
import { ExactQuota } from '../elements/amounts-and-hashes.tsx'
import { DataTable, type TableRow } from '../elements/data-table.tsx'

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
