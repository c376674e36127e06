import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { stampText } from '#console/ui/elements/time-text.ts'
import { ExactQuota, QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { DataTable, type TableRow } from '../elements/data-table.tsx'
import { detailsText, movementTypeText } from './movement-text.ts'
import type { CompleteStatement, StatementLine } from './statement-lines.ts'

/** Shows the opening total of a month, its movements (oldest first), and its closing total. */
export function StatementTable({ complete }: { complete: CompleteStatement }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { statement, lines, summedCalls } = complete
  const row = (line: StatementLine): TableRow => {
    const running = <ExactQuota key="running" value={line.running} />
    if ('sum' in line) {
      const { sum } = line
      const calls = t('audit.ledger.summedCalls', {
        ...{ count: sum.count, number: number.format(sum.count), model: sum.model || '–' },
      })
      return {
        key: `${sum.day} ${sum.model}`,
        cells: [
          ...[stampText(sum.day, 'UTC').slice(0, 10), t('audit.movement.call'), calls],
          ...[<QuotaChange key="amount" value={sum.amount} />, running],
        ],
      }
    }
    const { item } = line
    return {
      key: String(item.position),
      cells: [
        ...[stampText(item.created_at, 'UTC'), movementTypeText(t, item.type)],
        <span key="details" className="tg-ledger-line">
          {detailsText(t, item)} <code>{item.source}</code>
        </span>,
        ...[<QuotaChange key="amount" value={item.amount} />, running],
      ],
    }
  }
  const title = t('audit.ledger.tab.movements')
  return (
    <section className="tg-ledger-lines">
      <h3>{title}</h3>
      {summedCalls !== null && (
        <p className="tg-muted">
          {t('audit.ledger.summedCallsLead', { number: number.format(summedCalls) })}
        </p>
      )}
      <DataTable
        label={title}
        heads={[
          ...[t('audit.ledger.timeUtc'), t('audit.ledger.type'), t('audit.ledger.details')],
          ...[{ end: t('audit.ledger.amount') }, { end: t('audit.ledger.running') }],
        ]}
        rows={[
          totalRow('opening', t('audit.ledger.opening'), statement.opening.total),
          ...lines.map(row),
          totalRow('closing', t('audit.ledger.closing'), statement.closing.total),
        ]}
      />
    </section>
  )
}

const totalRow = (key: string, name: string, total: number): TableRow => ({
  ...{ key, tone: 'sum' },
  cells: [name, '', '', '', <ExactQuota key="running" value={total} />],
})
