import { useId, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { GroupTag } from '#console/ui/elements/group-tag.tsx'
import { StatusTag } from '#console/ui/elements/status-tag.tsx'
import { TableHead } from '#console/ui/elements/table-head.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { type ExactDecimal, formatDecimal } from '#console/ui/quota/exact-decimal.ts'
import type { PricedModel } from '#read-api/contract/pricing.ts'
import {
  costOf,
  exactRatioText,
  hasMediaPrices,
  mediaPricesIn,
  modelAtLength,
  pricesIn,
  shortPriceText,
  shortRatioText,
  threeDecimalText,
  unitIn,
  videoPricesIn,
} from './model-prices.ts'
import { RatioTag, type SelectedGroup } from './price-columns.tsx'

export function ModelDetails(props: {
  model: PricedModel
  group: SelectedGroup
  ratios: Readonly<Record<string, number>>
}) {
  const { t } = useTranslation()
  const { model, group, ratios } = props
  return (
    <div className="tg-price-details">
      <PricesByGroup model={model} ratios={ratios} />
      {hasMediaPrices(model) && <MediaPrices model={model} group={group} />}
      {model.batch_ratio !== undefined && (
        <p>{t('pricing.batchPrice', { ratio: shortRatioText(model.batch_ratio) })}</p>
      )}
      {model.video_ratios !== undefined && <VideoPrices model={model} group={group} />}
      {model.quota_type === 0 && <Calculator model={model} group={group} />}
    </div>
  )
}

function PricesByGroup(props: { model: PricedModel; ratios: Readonly<Record<string, number>> }) {
  const { t } = useTranslation()
  const { model } = props
  const isByCall = model.quota_type === 1
  const ofCall = t(`pricing.per${unitIn(model)}Price`)
  const prices = isByCall ? [ofCall] : [t('pricing.input'), t('ui.outputPrice')]
  return (
    <div className="tg-price-scroll">
      <table>
        <caption>{t('pricing.byGroup')}</caption>
        <TableHead titles={[t('ui.groupName'), t('ui.ratio'), ...prices]} />
        <tbody>
          {model.enable_groups.map((name) => {
            const ratio = props.ratios[name] ?? 1
            const prices = pricesIn(model, ratio)
            return (
              <tr key={name}>
                <th scope="row">
                  <GroupTag name={name} />
                </th>
                <td>
                  <RatioTag ratio={ratio} />
                </td>
                <td title={exactPriceText(prices.mode === 'call' ? prices.call : prices.input)}>
                  {prices.mode === 'call'
                    ? shortPriceText(prices.call)
                    : threeDecimalText(prices.input)}
                  {model.price_units !== undefined && (
                    <small className="tg-muted"> {t(`ui.per${unitIn(model, name)}`)}</small>
                  )}
                </td>
                {prices.mode === 'tokens' && <td>{threeDecimalText(prices.output)}</td>}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** The prices of audio and images in the selected group. */
function MediaPrices({ model, group }: { model: PricedModel; group: SelectedGroup }) {
  const { t } = useTranslation()
  return (
    <div className="tg-price-scroll">
      <table>
        <caption>
          {t('pricing.mediaPrices')} <GroupTag name={group.name} />
        </caption>
        <TableHead titles={[t('pricing.medium'), t('pricing.input'), t('ui.outputPrice')]} />
        <tbody>
          {mediaPricesIn(model, group.ratio).map(({ medium, input, output }) => (
            <tr key={medium}>
              <th scope="row">{t(`pricing.mediumName.${medium}`)}</th>
              <td title={exactPriceText(input)}>{threeDecimalText(input)}</td>
              <td title={exactPriceText(output)}>{threeDecimalText(output)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The prices of a model's videos in the selected group. The default video is marked. */
function VideoPrices({ model, group }: { model: PricedModel; group: SelectedGroup }) {
  const { t } = useTranslation()
  const unit = t(`ui.per${unitIn(model, group.name)}`)
  return (
    <div className="tg-price-scroll">
      <table>
        <caption>
          {t('pricing.videoPrices')} <GroupTag name={group.name} />
        </caption>
        <TableHead titles={[t('pricing.video'), t('ui.ratio'), t('pricing.price')]} />
        <tbody>
          {videoPricesIn(model, group.ratio).map(({ kind, name, ratio, price, isDefault }) => (
            <tr key={name}>
              <th scope="row">
                {kind === 'resolution' ? name : t(`pricing.videoKind.${kind}`, { name })}
                {isDefault && (
                  <>
                    {' '}
                    <StatusTag tone="info" isPlain>
                      {t('pricing.isDefault')}
                    </StatusTag>
                  </>
                )}
              </th>
              <td title={`×${exactRatioText(ratio)}`}>×{shortRatioText(ratio)}</td>
              <td title={exactPriceText(price)}>
                {shortPriceText(price)} <small className="tg-muted">{unit}</small>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const exactPriceText = (price: ExactDecimal): string => `$${formatDecimal(price)}`

const TOKENS = /^\d{1,9}$/

function Calculator({ group, ...props }: { model: PricedModel; group: SelectedGroup }) {
  const { t } = useTranslation()
  const [prompt, setPrompt] = useState('1000')
  const [completion, setCompletion] = useState('500')
  const isCounted = TOKENS.test(prompt) && TOKENS.test(completion)
  const tokens = { prompt: Number(prompt), completion: Number(completion) }
  const model = modelAtLength(props.model, tokens.prompt)
  const formula = t('pricing.formulaWith', {
    // The text shows ratios with few digits. The cost is computed with all decimals.
    group: shortRatioText(group.ratio),
    model: shortRatioText(model.model_ratio),
    completionRatio: shortRatioText(model.completion_ratio),
    ...tokens,
  })
  return (
    <div className="tg-price-calculator">
      <div className="tg-price-tokens">
        <TokenCount label={t('pricing.prompt')} value={prompt} onChange={setPrompt} />
        <TokenCount label={t('pricing.completion')} value={completion} onChange={setCompletion} />
      </div>
      <p role="status">
        {isCounted ? (
          <>
            <span className="tg-muted">{formula} = </span>
            <strong className="tg-amount">
              ${formatDecimal(costOf(model, group.ratio, tokens))}
            </strong>
          </>
        ) : (
          <span className="tg-muted">{t('pricing.wholeNumbers')}</span>
        )}
      </p>
      {hasMediaPrices(props.model) && <p className="tg-muted">{t('pricing.onlyText')}</p>}
    </div>
  )
}

function TokenCount(props: { label: string; value: string; onChange: (value: string) => void }) {
  const id = useId()
  return (
    <div>
      <label className="tg-label" htmlFor={id}>
        {props.label}
      </label>
      <TextInput
        id={id}
        inputMode="numeric"
        maxLength={9}
        value={props.value}
        onChange={props.onChange}
      />
    </div>
  )
}
