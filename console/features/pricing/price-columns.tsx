import type { TFunction } from 'i18next'
import {
  type CardPlace,
  type Column,
  column,
  TITLE_COLUMN,
} from '#console/ui/data-grid/column-and-layout.ts'
import { CopyButton } from '#console/ui/elements/copy-to-clipboard.tsx'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { type ExactDecimal, formatDecimal } from '#console/ui/quota/exact-decimal.ts'
import type { PricedModel } from '#read-api/contract/pricing.ts'
import {
  exactRatioText,
  pricesIn,
  ratioTone,
  shortPriceText,
  shortRatioText,
  threeDecimalText,
  unitIn,
} from './model-prices.ts'
import { isSortable } from './use-pricing.ts'

export type SelectedGroup = { readonly name: string; readonly ratio: number }

export function priceColumns(t: TFunction, group: SelectedGroup): Column<PricedModel>[] {
  const isInSelectedGroup = (model: PricedModel) => model.enable_groups.includes(group.name)
  const name = ({ model_name }: PricedModel) => (
    <ModelName name={model_name} label={t('pricing.copyName')} />
  )
  const owner = ({ owner_by }: PricedModel) =>
    owner_by === '' ? NONE : <span className="tg-price-owner">{owner_by}</span>
  const billing = (model: PricedModel) => (
    <StatusTag tone={model.quota_type === 1 ? 'info' : 'neutral'} isPlain>
      {t(model.quota_type === 1 ? `pricing.by${unitIn(model, group.name)}` : 'pricing.byTokens')}
    </StatusTag>
  )
  const input = (model: PricedModel) => <InputPrice model={model} group={group} t={t} />
  const price = (of: 'cached' | 'output') => (model: PricedModel) => (
    <TokenPrice model={model} group={group} of={of} />
  )
  const here = (model: PricedModel) => (
    <StatusTag tone={isInSelectedGroup(model) ? 'good' : 'neutral'}>
      {t(isInSelectedGroup(model) ? 'pricing.isAvailable' : 'pricing.isUnavailable')}
    </StatusTag>
  )
  const groups = ({ enable_groups }: PricedModel) => <Groups names={enable_groups} />
  const isByCall = ({ quota_type }: PricedModel) => quota_type === 1
  // A model with a fixed price has no prices for tokens, so its card hides these columns.
  const ofTokens = (place: CardPlace) => (model: PricedModel) =>
    isByCall(model) ? 'hidden' : place
  const priceTitle = (model: PricedModel) => t(isByCall(model) ? 'pricing.price' : 'pricing.input')
  const onCard = { cached: ofTokens('more'), output: ofTokens('line') }
  const columns = [
    column('model', t('ui.model'), 172, name, TITLE_COLUMN),
    column('owner', t('pricing.owner'), 92, owner),
    column('billing', t('ui.billing'), 118, billing, { onCard: 'aside' }),
    column('input', t('pricing.inputHeading'), 122, input, {
      ...{ align: 'end', cardTitle: priceTitle },
    }),
    column('cached', t('pricing.cached'), 98, price('cached'), {
      ...{ align: 'end', onCard: onCard.cached },
    }),
    column('output', t('ui.outputPrice'), 94, price('output'), {
      ...{ align: 'end', onCard: onCard.output },
    }),
    column('here', t('pricing.available'), 112, here),
    column('groups', t('pricing.groups'), 130, groups, { onCard: 'more' }),
  ]
  return columns.map((one) => ({ ...one, isSortable: isSortable(one.id) }))
}

const NONE = <span className="tg-muted">—</span>

function ModelName({ name, label }: { name: string; label: string }) {
  return (
    <span className="tg-price-model">
      <span className="tg-mono" title={name}>
        {name}
      </span>
      <CopyButton text={name} label={`${label}: ${name}`} />
    </span>
  )
}

function InputPrice(props: { model: PricedModel; group: SelectedGroup; t: TFunction }) {
  const prices = pricesIn(props.model, props.group.ratio)
  if (prices.mode === 'tokens') return <Price of={prices.input} />
  const unit = unitIn(props.model, props.group.name)
  // The text that names both units is on a separate line, so that the columns still fit.
  const isLong = unit === 'CallOrSecond'
  return (
    <span className={isLong ? 'tg-amount tg-price-long-unit' : 'tg-amount'}>
      <span title={`$${formatDecimal(prices.call)}`}>{shortPriceText(prices.call)}</span>{' '}
      <small className="tg-muted">{props.t(`ui.per${unit}`)}</small>
    </span>
  )
}

function TokenPrice(props: { model: PricedModel; group: SelectedGroup; of: 'cached' | 'output' }) {
  const prices = pricesIn(props.model, props.group.ratio)
  const price = prices.mode === 'call' ? null : prices[props.of]
  return price === null ? NONE : <Price of={price} />
}

function Price({ of }: { of: ExactDecimal }) {
  return (
    <span className="tg-amount" title={`$${formatDecimal(of)}`}>
      {threeDecimalText(of)}
    </span>
  )
}

const SHOWN_MAX = 2

function Groups({ names }: { names: readonly string[] }) {
  const more = names.length - SHOWN_MAX
  return (
    <span className="tg-price-group" title={names.join(', ')}>
      {names.slice(0, SHOWN_MAX).map((name) => (
        <GroupTag key={name} name={name} />
      ))}
      {more > 0 && <span className="tg-muted">+{more}</span>}
    </span>
  )
}

export function RatioTag({ ratio }: { ratio: number }) {
  return (
    <span title={`×${exactRatioText(ratio)}`}>
      <StatusTag tone={ratioTone(ratio)} isPlain>
        ×{shortRatioText(ratio)}
      </StatusTag>
    </span>
  )
}
