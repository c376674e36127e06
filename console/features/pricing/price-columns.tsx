import type { TFunction } from 'i18next'
import type { ReactElement } from 'react'
import type { Column } from '#console/ui/data-grid/column.ts'
import { CopyButton } from '#console/ui/elements/copy-button.tsx'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { type ExactDecimal, formatDecimal } from '#console/ui/quota/exact-decimal.ts'
import type { PricedModel } from '#read-api/contract/pricing.ts'
import { atLeastThree, pricesIn, threeDecimals } from './model-prices.ts'
import { isSortable } from './use-pricing.ts'

export type ShownGroup = { readonly name: string; readonly ratio: number }

export function priceColumns(t: TFunction, group: ShownGroup): Column<PricedModel>[] {
  const column = (
    id: string,
    title: string,
    width: number,
    rest: Omit<Partial<Column<PricedModel>>, 'width'> & Pick<Column<PricedModel>, 'cell'>,
  ): Column<PricedModel> => ({ id, title, width, isSortable: isSortable(id), ...rest })
  const isHere = (model: PricedModel) => model.enable_groups.includes(group.name)
  return [
    column('model', t('ui.model'), 176, {
      isGrowing: true,
      isPinned: true,
      onCard: 'title',
      cell: ({ model_name }) => <ModelName name={model_name} label={t('pricing.copyName')} />,
    }),
    column('owner', t('pricing.owner'), 100, {
      cell: ({ owner_by }) => owner_by || <span className="tg-muted">—</span>,
    }),
    column('billing', t('ui.billing'), 94, {
      onCard: 'aside',
      cell: ({ quota_type }) => (
        <StatusTag tone={quota_type === 1 ? 'info' : 'neutral'} isPlain>
          {t(quota_type === 1 ? 'pricing.byCall' : 'pricing.byTokens')}
        </StatusTag>
      ),
    }),
    column('input', t('pricing.input'), 130, {
      align: 'end',
      cell: (model) => <InputPrice model={model} group={group} t={t} />,
    }),
    column('cached', t('pricing.cached'), 98, {
      align: 'end',
      onCard: 'more',
      cell: (model) => <TokenPrice model={model} group={group} of="cached" />,
    }),
    column('output', t('ui.outputPrice'), 100, {
      align: 'end',
      cell: (model) => <TokenPrice model={model} group={group} of="output" />,
    }),
    column('here', t('pricing.available'), 104, {
      cell: (model) => (
        <StatusTag tone={isHere(model) ? 'good' : 'neutral'}>
          {t(isHere(model) ? 'pricing.yes' : 'pricing.no')}
        </StatusTag>
      ),
    }),
    column('groups', t('pricing.groups'), 134, {
      onCard: 'more',
      cell: ({ enable_groups }) => <Groups names={enable_groups} />,
    }),
  ]
}

function ModelName({ name, label }: { name: string; label: string }): ReactElement {
  return (
    <span className="tg-price-model">
      <span className="tg-mono" title={name}>
        {name}
      </span>
      <CopyButton text={name} label={`${label}: ${name}`} />
    </span>
  )
}

function InputPrice(props: { model: PricedModel; group: ShownGroup; t: TFunction }): ReactElement {
  const prices = pricesIn(props.model, props.group.ratio)
  if (prices.mode === 'tokens') return <Price of={prices.input} />
  return (
    <span className="tg-amount">
      {atLeastThree(prices.call)} <small className="tg-muted">{props.t('ui.perCall')}</small>
    </span>
  )
}

/** A price per million tokens. The cell is empty if the model is priced per call. */
function TokenPrice(props: {
  model: PricedModel
  group: ShownGroup
  of: 'cached' | 'output'
}): ReactElement {
  const prices = pricesIn(props.model, props.group.ratio)
  const price = prices.mode === 'call' ? null : prices[props.of]
  return price === null ? <span className="tg-muted">—</span> : <Price of={price} />
}

/** A price with three decimals. The tooltip shows all decimals. */
function Price({ of }: { of: ExactDecimal }): ReactElement {
  return (
    <span className="tg-amount" title={`$${formatDecimal(of)}`}>
      {threeDecimals(of)}
    </span>
  )
}

const SHOWN_MAX = 2

function Groups({ names }: { names: readonly string[] }): ReactElement {
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
