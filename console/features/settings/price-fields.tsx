import type { ReactElement, ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale.ts'
import { FormField } from '#console/ui/form-field.tsx'
import { TextInput } from '#console/ui/inputs.tsx'
import { RadioCards } from '#console/ui/switches.tsx'
import type { CapFallback } from './output-cap.ts'
import {
  completionRatioOf,
  exampleCost,
  outputPrice,
  priceOfRatio,
  quotaOfDollars,
  ratioOfPrice,
  shortRatio,
} from './price-conversion.ts'
import { inMode, type PriceDraft, type PriceFaults } from './price-draft.ts'

type FieldsProps = {
  capFallback: CapFallback
  draft: PriceDraft
  faults: PriceFaults
  onChange: (draft: PriceDraft) => void
}

/** The way of entering, its fields, and what they come to in the other way. */
export function PriceFields(props: FieldsProps): ReactElement {
  const { draft, faults, onChange } = props
  const { t } = useTranslation()
  return (
    <>
      <FormField
        label={t('settings.modelName')}
        hint={t('settings.modelNameHint')}
        error={faults.name && t(`settings.fault.${faults.name}`)}
        isRequired
      >
        {(control) => (
          <TextInput
            {...control}
            isMono
            spellCheck={false}
            value={draft.name}
            onChange={(name) => onChange({ ...draft, name })}
          />
        )}
      </FormField>
      <RadioCards
        label={t('settings.entry')}
        value={draft.mode}
        choices={[
          { value: 'price', label: t('settings.entryPrice'), hint: t('settings.entryPriceHint') },
          { value: 'ratio', label: t('settings.entryRatio'), hint: t('settings.entryRatioHint') },
          { value: 'call', label: t('settings.entryCall'), hint: t('settings.entryCallHint') },
        ]}
        onChange={(mode) => onChange(inMode(draft, mode))}
      />
      <ModeFields {...props} />
      <Equivalent draft={draft} />
    </>
  )
}

function ModeFields(props: FieldsProps): ReactElement {
  const { t } = useTranslation()
  const { mode } = props.draft
  const field = (name: NumberName, label: string, hint?: ReactNode) => (
    <NumberField {...props} name={name} label={label} hint={hint} />
  )
  if (mode === 'call') {
    return field('callPrice', t('settings.callPriceLabel'), t('settings.callPriceHint'))
  }
  const output = t('settings.outputPriceHint')
  return (
    <>
      <div className="tg-form-row tg-price-row">
        {mode === 'price' ? (
          <>
            {field('inputPrice', t('settings.inputPriceLabel'))}
            {field('outputPrice', t('settings.outputPriceLabel'), output)}
          </>
        ) : (
          <>
            {field('ratio', t('settings.ratio'))}
            {field('completionRatio', t('settings.completionRatio'), output)}
          </>
        )}
      </div>
      <div className="tg-form-row tg-price-row">
        {field('cacheRatio', t('settings.cacheRatio'), t('settings.cacheRatioHint'))}
        <OutputCapField {...props} />
      </div>
    </>
  )
}

/** Empty, it shows the limit that holds then. */
function OutputCapField({ draft, faults, capFallback, onChange }: FieldsProps): ReactElement {
  const { t } = useTranslation()
  const count = useNumberFormat()
  const { tokens, isBuiltIn } = capFallback(draft.name.trim())
  const fault = faults.maxOutputTokens
  return (
    <FormField
      label={t('settings.maxOutputLabel')}
      hint={t(isBuiltIn ? 'settings.maxOutputHintBuiltIn' : 'settings.maxOutputHint')}
      error={fault && t(`settings.fault.${fault}`)}
    >
      {(control) => (
        <TextInput
          {...control}
          inputMode="numeric"
          isMono
          placeholder={tokens === null ? '' : count.format(tokens)}
          value={draft.maxOutputTokens}
          onChange={(maxOutputTokens) => onChange({ ...draft, maxOutputTokens })}
        />
      )}
    </FormField>
  )
}

type NumberName = Exclude<keyof PriceDraft, 'name' | 'mode' | 'maxOutputTokens'>

/** The one number that its way of entering can't do without. */
const NEEDED: ReadonlySet<NumberName> = new Set(['inputPrice', 'ratio', 'callPrice'])

function NumberField(
  props: FieldsProps & { name: NumberName; label: string; hint: ReactNode },
): ReactElement {
  const { draft, faults, name, onChange } = props
  const { t } = useTranslation()
  const fault = faults[name]
  return (
    <FormField
      label={props.label}
      error={fault && t(`settings.fault.${fault}`)}
      isRequired={NEEDED.has(name)}
      {...(props.hint === undefined ? {} : { hint: props.hint })}
    >
      {(control) => (
        <TextInput
          {...control}
          inputMode="decimal"
          isMono
          value={draft[name]}
          onChange={(value) => onChange({ ...draft, [name]: value })}
        />
      )}
    </FormField>
  )
}

/** What was typed, said the other way round, and what a usual call would cost. */
export function Equivalent({ draft }: { draft: PriceDraft }): ReactElement | null {
  const { t } = useTranslation()
  if (draft.mode === 'call') {
    const quota = quotaOfDollars(draft.callPrice)
    if (quota === '' || quota.startsWith('-')) return null
    const text = t('settings.equalsCall', { quota })
    return <output className="tg-equals">{t('settings.equals', { text })}</output>
  }
  const isPrice = draft.mode === 'price'
  const input = isPrice ? draft.inputPrice : priceOfRatio(draft.ratio)
  const output = isPrice ? draft.outputPrice : outputPrice(draft.ratio, draft.completionRatio)
  const ratio = isPrice ? ratioOfPrice(draft.inputPrice) : draft.ratio
  if (input === '' || ratio === '' || `${input}${output}`.includes('-')) return null
  const completion = shortRatio(completionRatioOf(input, output)) || t('settings.builtIn')
  const text = isPrice
    ? t('settings.equalsRatio', { ratio, completion })
    : t('settings.equalsPrice', {
        input: `$${input}`,
        output: output === '' ? t('settings.builtIn') : `$${output}`,
      })
  const cost = exampleCost(input, output)
  return (
    <output className="tg-equals">
      <span>{t('settings.equals', { text })}</span>
      {cost !== '' && <span>{t('settings.example', { cost: `$${cost}` })}</span>}
    </output>
  )
}
