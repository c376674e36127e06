import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { parseOtherField } from '#console/api/usage-log-queries.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Icon } from '#console/ui/elements/icons.tsx'
import { priceProperty } from '#console/ui/quota/listed-price.ts'
import { dollarText, groupDigits, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { LogEntry, LogOther } from '#read-api/contract/logs.ts'
import { explainPrice, type PriceExplanation, type PriceTerm } from './price-explanation.ts'

export function PriceExplanationTable({ row }: { row: LogEntry }) {
  const { t } = useTranslation()
  const charged = BigInt(row.quota)
  const other = parseOtherField(row)
  const explanation = explainPrice(other, charged)
  return (
    <section aria-label={t('logDetails.price.title')}>
      <h3>{t('logDetails.price.title')}</h3>
      {explanation === null ? (
        <p className="tg-muted">
          {t(`logDetails.price.${other.batch_id === undefined ? 'none' : 'noneOfBatch'}`)}
        </p>
      ) : (
        <>
          <Arithmetic explanation={explanation} charged={charged}>
            <CostRows other={other} charged={charged} />
          </Arithmetic>
          <Verdict explanation={explanation} charged={charged} list={other.price?.list ?? ''} />
        </>
      )}
    </section>
  )
}

type ArithmeticProps = { explanation: PriceExplanation; charged: bigint; children?: ReactNode }

function Arithmetic({ explanation, charged, children }: ArithmeticProps) {
  const { t } = useTranslation()
  const { terms, rounding, sum, lines, unpaid } = explanation
  const roundingName = lines === undefined ? 'rounding' : 'roundingOfLines'
  return (
    <table className="tg-log-table">
      <thead>
        <tr>
          <th scope="col">{t('shared.item')}</th>
          <th scope="col" className="tg-log-end">
            {t('logDetails.price.count')}
          </th>
          <th scope="col">{t('logDetails.price.rate')}</th>
          <th scope="col" className="tg-log-end">
            {t('shared.quota')}
          </th>
        </tr>
      </thead>
      <tbody>
        {terms.map((term) => (
          <TermRow key={term.tool ?? term.name} term={term} />
        ))}
        {terms.length === 0 && (
          <tr>
            <td colSpan={4} className="tg-muted">
              {t('logDetails.price.free')}
            </td>
          </tr>
        )}
        {terms.length > 1 && <TotalRow name={t('logDetails.price.sum')} amount={sum} />}
        {rounding !== '0' && (
          <TotalRow
            name={t(`logDetails.price.${roundingName}`)}
            amount={rounding.startsWith('-') ? rounding : `+${rounding}`}
          />
        )}
        {unpaid !== undefined && (
          <TotalRow name={t('logDetails.price.unpaid')} amount={`-${unpaid}`} />
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colSpan={3}>
            {t('logDetails.price.total')}
          </th>
          <Amount quota={charged} isMain />
        </tr>
        {children}
      </tfoot>
    </table>
  )
}

function Amount({ quota, isMain = false }: { quota: bigint; isMain?: boolean }) {
  const rule = useMoneyRule()
  const text = groupDigits(String(quota))
  return (
    <td className="tg-log-end">
      {isMain ? <strong>{text}</strong> : text}
      <span className="tg-log-dollars">{dollarText(quota, rule, 6)}</span>
    </td>
  )
}

function CostRows({ other, charged }: { other: LogOther; charged: bigint }) {
  const { t } = useTranslation()
  if (other.cost === undefined) return null
  const cost = quotaOf(other.cost)
  return (
    <>
      <tr className="tg-log-cost">
        <td colSpan={3}>{t('logDetails.price.cost', { ratio: other.cost_ratio ?? '' })}</td>
        <Amount quota={cost} />
      </tr>
      <tr className="tg-log-cost">
        <td colSpan={3}>{t('shared.margin')}</td>
        <Amount quota={charged - cost} />
      </tr>
    </>
  )
}

function TermRow({ term }: { term: PriceTerm }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  return (
    <tr>
      <td>{t(`logDetails.term.${term.name}`, { tool: term.tool ?? '' })}</td>
      <td className="tg-log-end">{number.format(term.count)}</td>
      <td>
        <span className="tg-log-factors">
          {term.factors.map((factor) => (
            <span key={factor.name === 'property' ? factor.property.name : factor.name}>
              <span aria-hidden="true">× </span>
              <b>{groupDigits(factor.value)}</b>{' '}
              {factor.name === 'property'
                ? priceProperty(t, factor.property)
                : t(`shared.factor.${factor.name}`)}
            </span>
          ))}
        </span>
      </td>
      <td className="tg-log-end">{groupDigits(term.amount)}</td>
    </tr>
  )
}

function TotalRow(props: { name: string; amount: string }) {
  return (
    <tr className="tg-log-sum">
      <td colSpan={3}>{props.name}</td>
      <td className="tg-log-end">{groupDigits(props.amount)}</td>
    </tr>
  )
}

function Verdict(props: ArithmeticProps & { list: string }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const rule = useMoneyRule()
  const { isExact, total, lines } = props.explanation
  const counts = { lines: number.format(lines ?? 0), count: lines ?? 0 }
  return (
    <p className={isExact ? 'tg-log-verdict' : 'tg-log-verdict tg-log-verdict-bad'}>
      <Icon name={isExact ? 'check' : 'alert'} size={14} />
      <span>
        {isExact
          ? t('logDetails.price.exact')
          : t(`logDetails.price.${lines === undefined ? 'inexact' : 'inexactBatch'}`, {
              computed: groupDigits(String(total)),
              charged: groupDigits(String(props.charged)),
            })}
        {lines !== undefined && ` · ${t('logDetails.price.lines', counts)}`}
        {' · '}
        {t('logDetails.price.unit', { perUnit: number.format(Number(rule.quotaPerUnit)) })}
        {props.list !== '' && ` · ${t('logDetails.price.list', { list: props.list })}`}
      </span>
    </p>
  )
}
