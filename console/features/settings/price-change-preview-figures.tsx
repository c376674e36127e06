import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { LabelledValue } from '#console/ui/elements/labelled-value.tsx'
import { TableHead } from '#console/ui/elements/table-head.tsx'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { PricePreview } from '#write-api/contract/options.ts'

type Figures = Pick<PricePreview, 'calls' | 'charged' | 'drafted' | 'refused'>

export function PricePreviewFigures({ preview }: { preview: Figures }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const money = useExactMoney()
  const figures = [
    [t('shared.calls'), number.format(preview.calls)],
    [t('pricing.previewCharged'), money(preview.charged)],
    [t('pricing.previewAtDraft'), money(preview.drafted)],
    [t('pricing.previewDifference'), differenceText(preview, money)],
  ] as const
  return (
    <dl className="tg-preview-sums">
      {figures.map(([label, text]) => (
        <LabelledValue key={label} name={label}>
          {text}
        </LabelledValue>
      ))}
    </dl>
  )
}

export function PricePreviewTable(props: {
  title: string
  column: string
  rows: readonly (Figures & { name: string })[]
}) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const money = useExactMoney()
  return (
    <>
      <h3 className="tg-drawer-part">{props.title}</h3>
      <table className="tg-figures tg-preview-table">
        <TableHead
          titles={[
            props.column,
            t('shared.calls'),
            t('pricing.previewCharged'),
            t('pricing.previewAtDraft'),
            t('pricing.previewDifference'),
          ]}
        />
        <tbody>
          {props.rows.map((row) => (
            <tr key={row.name} data-quiet={row.charged === row.drafted || undefined}>
              <th scope="row">
                {row.name}
                {row.refused > 0 && (
                  <span className="tg-quiet">
                    {t('pricing.previewRefused')} {number.format(row.refused)}
                  </span>
                )}
              </th>
              <td>{number.format(row.calls)}</td>
              <td>{money(row.charged)}</td>
              <td>{money(row.drafted)}</td>
              <td>{differenceText(row, money)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

type Money = (quota: bigint | number) => string

function useExactMoney(): Money {
  const rule = useMoneyRule()
  return (quota) => exactQuotaText(typeof quota === 'bigint' ? quota : quotaOf(quota), rule)
}

function differenceText({ charged, drafted }: Figures, money: Money): string {
  const difference = quotaOf(drafted) - quotaOf(charged)
  return difference > 0n ? `+${money(difference)}` : money(difference)
}
