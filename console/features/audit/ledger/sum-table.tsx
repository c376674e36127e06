import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { QuotaChange } from '../elements/amounts-and-hashes.tsx'
import { DataTable } from '../elements/data-table.tsx'

export type SumRow = { readonly name: string; readonly count: number; readonly amount: number }

/**
 * Shows the number and the sum of movements by type of movement, model, channel or day. `head` is
 * the name of this criterion.
 */
export function SumTable(props: { title: string; head: string; rows: readonly SumRow[] }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const { title, head, rows } = props
  return (
    <section className="tg-ledger-sums">
      <h3>{title}</h3>
      <DataTable
        label={title}
        isShort
        heads={[head, { end: t('audit.ledger.count') }, { end: t('audit.ledger.amount') }]}
        rows={rows.map(({ name, count, amount }) => ({
          key: name,
          cells: [name, number.format(count), <QuotaChange key="amount" value={amount} />],
        }))}
      />
    </section>
  )
}
