import { useTranslation } from 'react-i18next'
import { isAuditor, useUser } from '#console/api/session.ts'
import { stamp } from '#console/ui/elements/time.tsx'
import { Panel } from '#console/ui/layout/panel.tsx'
import type { CallExplanation } from '#read-api/contract/calls.ts'
import { ExactQuota, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { DataTable } from '../elements/data-table.tsx'

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
