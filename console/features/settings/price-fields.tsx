import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { RadioCards } from '#console/ui/forms/choice-inputs.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import type { DraftForm } from '#console/ui/forms/use-draft-form.ts'
import {
  completionRatioOf,
  exampleCost,
  outputPrice,
  priceOfRatio,
  quotaOfDollars,
  ratioOfPrice,
  shortRatio,
} from './price-conversion.ts'
import { convertToMode, type PriceDraft } from './price-draft.ts'
import type { OutputLimitFallback } from './use-output-limit-fallback.ts'

type FieldsProps = { capFallback: OutputLimitFallback; form: DraftForm<PriceDraft> }

export function PriceFields(props: FieldsProps) {
  const { form } = props
  const { t } = useTranslation()
  return (
    <>
      <TextField
        label={t('prices.modelName')}
        hint={t('prices.modelNameHint')}
        isRequired
        isMono
        spellCheck={false}
        {...form.field('name')}
      />
      <RadioCards
        label={t('prices.entry')}
        value={form.draft.mode}
        choices={[
          { value: 'price', label: t('prices.entryPrice'), hint: t('prices.entryPriceHint') },
          { value: 'ratio', label: t('prices.entryRatio'), hint: t('prices.entryRatioHint') },
          { value: 'call', label: t('prices.entryCall'), hint: t('prices.entryCallHint') },
        ]}
        onChange={(mode) => form.change(convertToMode(form.draft, mode))}
      />
      <ModeFields {...props} />
      <Equivalent draft={form.draft} />
    </>
  )
}

type NumberName = Exclude<keyof PriceDraft, 'name' | 'mode' | 'maxOutputTokens'>

const NEEDED: ReadonlySet<NumberName> = new Set(['inputPrice', 'ratio', 'callPrice'])

function ModeFields(props: FieldsProps) {
  const { t } = useTranslation()
  const { form } = props
  const { mode } = form.draft
  const field = (name: NumberName, label: string, hint?: string) => (
    <TextField
      label={label}
      hint={hint}
      isRequired={NEEDED.has(name)}
      inputMode="decimal"
      isMono
      {...form.field(name)}
    />
  )
  if (mode === 'call') {
    return field('callPrice', t('prices.callPriceLabel'), t('prices.callPriceHint'))
  }
  const output = t('prices.outputPriceHint')
  return (
    <>
      <div className="tg-form-row tg-price-row">
        {mode === 'price' ? (
          <>
            {field('inputPrice', t('prices.inputPriceLabel'))}
            {field('outputPrice', t('prices.outputPriceLabel'), output)}
          </>
        ) : (
          <>
            {field('ratio', t('prices.ratio'))}
            {field('completionRatio', t('prices.completionRatio'), output)}
          </>
        )}
      </div>
      <div className="tg-form-row tg-price-row">
        {field('cacheRatio', t('prices.cacheRatio'), t('prices.cacheRatioHint'))}
        <OutputCapField {...props} />
      </div>
    </>
  )
}

function OutputCapField({ form, capFallback }: FieldsProps) {
  const { t } = useTranslation()
  const count = useNumberFormat()
  const { tokens, isBuiltIn } = capFallback(form.draft.name.trim())
  return (
    <TextField
      label={t('prices.maxOutputLabel')}
      hint={t(isBuiltIn ? 'prices.maxOutputHintBuiltIn' : 'prices.maxOutputHint')}
      inputMode="numeric"
      isMono
      placeholder={tokens === null ? '' : count.format(tokens)}
      {...form.field('maxOutputTokens')}
    />
  )
}

export function Equivalent({ draft }: { draft: PriceDraft }) {
  const { t } = useTranslation()
  if (draft.mode === 'call') {
    const quota = quotaOfDollars(draft.callPrice)
    if (quota === '' || quota.startsWith('-')) return null
    const text = t('shared.quotaUnits', { quota })
    return <output className="tg-equals">{t('prices.equals', { text })}</output>
  }
  const isPrice = draft.mode === 'price'
  const input = isPrice ? draft.inputPrice : priceOfRatio(draft.ratio)
  const output = isPrice ? draft.outputPrice : outputPrice(draft.ratio, draft.completionRatio)
  const ratio = isPrice ? ratioOfPrice(draft.inputPrice) : draft.ratio
  if (input === '' || ratio === '' || `${input}${output}`.includes('-')) return null
  const completion = shortRatio(completionRatioOf(input, output)) || t('prices.builtIn')
  const text = isPrice
    ? t('prices.equalsRatio', { ratio, completion })
    : t('prices.equalsPrice', {
        input: `$${input}`,
        output: output === '' ? t('prices.builtIn') : `$${output}`,
      })
  const cost = exampleCost(input, output)
  return (
    <output className="tg-equals">
      <span>{t('prices.equals', { text })}</span>
      {cost !== '' && <span>{t('prices.example', { cost: `$${cost}` })}</span>}
    </output>
  )
}
