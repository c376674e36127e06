import { useTranslation } from 'react-i18next'
import { useLocale, useNumberFormat } from '#console/i18n/use-locale.ts'
import { ExactQuota, QuotaChange } from '../elements/amounts.tsx'
import { DataTable, type TableRow } from '../elements/data-table.tsx'
import { detailsOf } from './movement-reason.ts'
import type { CompleteStatement, StatementLine } from './statement-lines.ts'

/** Shows the movements of a month between its opening and its closing total, oldest first. */
export function StatementTable({ complete }: { complete: CompleteStatement }) {
  const { t } = useTranslation()
  const locale = useLocale()
  const number = useNumberFormat()
  const { statement, lines, summedCalls } = complete
  const utc = { timeZone: 'UTC', dateStyle: 'medium' } as const
  const day = new Intl.DateTimeFormat(locale, utc)
  const moment = new Intl.DateTimeFormat(locale, { ...utc, timeStyle: 'medium' })
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
          ...[day.format(sum.day * 1_000), t('audit.movement.call'), calls],
          ...[<QuotaChange key="amount" value={sum.amount} />, running],
        ],
      }
    }
    const { item } = line
    return {
      key: String(item.position),
      cells: [
        ...[moment.format(item.created_at * 1_000), t(`audit.movement.${item.type}`)],
        <span key="details" className="tg-ledger-line">
          {detailsOf(t, item)} <code>{item.source}</code>
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
          endRow('opening', t('audit.ledger.opening'), statement.opening.total),
          ...lines.map(row),
          endRow('closing', t('audit.ledger.closing'), statement.closing.total),
        ]}
      />
    </section>
  )
}

const endRow = (key: string, name: string, total: number): TableRow => ({
  ...{ key, tone: 'sum' },
  cells: [name, '', '', '', <ExactQuota key="running" value={total} />],
})
