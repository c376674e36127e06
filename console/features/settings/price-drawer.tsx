import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { useDialogItem } from '#console/ui/dialogs/use-dialog-item.ts'
import { RadioCards } from '#console/ui/forms/choice-inputs.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { isSharedErrorKey } from '#console/ui/forms/server-field-errors.ts'
import { type DraftForm, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import {
  completionRatioOf,
  exampleCost,
  priceOfRatio,
  quotaOfDollars,
  ratioOfPrice,
  scaledPrice,
  shortRatio,
} from './price-conversion.ts'
import {
  changedRow,
  convertToMode,
  draftOfRow,
  emptyPrice,
  type PriceDraft,
  type PriceErrorKey,
  rowOfDraft,
  validatePrice,
} from './price-draft.ts'
import type { PriceRow } from './price-rows.ts'
import type { MediaPricesOf } from './use-media-prices.ts'
import type { UnitOfPrice } from './use-model-price-unit.ts'
import type { OutputLimitFallback } from './use-output-limit-fallback.ts'

type FieldsProps = {
  capFallback: OutputLimitFallback
  mediaPricesOf: MediaPricesOf
  unitOfPrice: UnitOfPrice
  form: DraftForm<PriceDraft>
}

function PriceFields(props: FieldsProps) {
  const { form } = props
  const { t } = useTranslation()
  const unit = unitOf(props)
  return (
    <>
      <TextField
        label={t('pricing.modelName')}
        hint={t('pricing.modelNameHint')}
        isRequired
        isMono
        spellCheck={false}
        {...form.field('name')}
      />
      <RadioCards
        label={t('pricing.entry')}
        value={form.draft.mode}
        choices={[
          { value: 'price', label: t('pricing.entryPrice'), hint: t('pricing.entryPriceHint') },
          { value: 'ratio', label: t('pricing.entryRatio'), hint: t('pricing.entryRatioHint') },
          {
            value: 'call',
            label: t(`pricing.entry${unit}`),
            hint: t(`pricing.entry${unit}Hint`),
          },
        ]}
        onChange={(mode) => form.change(convertToMode(form.draft, mode))}
      />
      <ModeFields {...props} />
      <Equivalent draft={form.draft} />
      <MediaPrices {...props} />
    </>
  )
}

/** Shows the prices of audio and images, whose ratios are not among the fields of the form. */
function MediaPrices({ form: { draft }, mediaPricesOf }: FieldsProps) {
  const { t } = useTranslation()
  if (draft.mode === 'call') return null
  const ratio = draft.mode === 'price' ? ratioOfPrice(draft.inputPrice) : draft.ratio
  const prices = mediaPricesOf(draft.name.trim(), ratio)
  if (prices.length === 0) return null
  return (
    <div className="tg-equals">
      {prices.map(({ option, dollars }) => (
        <span key={option}>{t(`pricing.mediaPrice.${option}`, { price: `$${dollars}` })}</span>
      ))}
      <span>{t('pricing.mediaPriceHint')}</span>
    </div>
  )
}

/**
 * Returns the unit of a fixed price for the entered model, in the form used in translation keys.
 */
const unitOf = ({ form, unitOfPrice }: FieldsProps) => unitOfPrice(form.draft.name.trim())

type NumberField = Exclude<keyof PriceDraft, 'name' | 'mode' | 'maxOutputTokens'>

const REQUIRED: ReadonlySet<NumberField> = new Set(['inputPrice', 'ratio', 'callPrice'])

function ModeFields(props: FieldsProps) {
  const { t } = useTranslation()
  const { form } = props
  const { mode } = form.draft
  const field = (name: NumberField, label: string, hint?: string) => (
    <TextField
      label={label}
      hint={hint}
      isRequired={REQUIRED.has(name)}
      inputMode="decimal"
      isMono
      {...form.field(name)}
    />
  )
  if (mode === 'call') {
    const unit = unitOf(props)
    return field('callPrice', t(`pricing.per${unit}Label`), t(`pricing.per${unit}Hint`))
  }
  const output = t('pricing.outputPriceHint')
  return (
    <>
      <div className="tg-form-row tg-price-row">
        {mode === 'price' ? (
          <>
            {field('inputPrice', t('pricing.inputPriceLabel'))}
            {field('outputPrice', t('pricing.outputPriceLabel'), output)}
          </>
        ) : (
          <>
            {field('ratio', t('pricing.ratio'))}
            {field('completionRatio', t('shared.factor.completion'), output)}
          </>
        )}
      </div>
      <div className="tg-form-row tg-price-row">
        {field('cacheRatio', t('pricing.cacheRatio'), t('pricing.cacheRatioHint'))}
        <OutputLimitField {...props} />
      </div>
    </>
  )
}

function OutputLimitField({ form, capFallback }: FieldsProps) {
  const { t } = useTranslation()
  const count = useNumberFormat()
  const { tokens, isBuiltIn } = capFallback(form.draft.name.trim())
  return (
    <TextField
      label={t('pricing.maxOutputLabel')}
      hint={t(isBuiltIn ? 'pricing.maxOutputHintBuiltIn' : 'pricing.maxOutputHint')}
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
    return <output className="tg-equals">{t('pricing.equals', { text })}</output>
  }
  const isPrice = draft.mode === 'price'
  const input = isPrice ? draft.inputPrice : priceOfRatio(draft.ratio)
  const output = isPrice ? draft.outputPrice : scaledPrice(draft.ratio, draft.completionRatio)
  const ratio = isPrice ? ratioOfPrice(draft.inputPrice) : draft.ratio
  if (input === '' || ratio === '' || `${input}${output}`.includes('-')) return null
  const completion = shortRatio(completionRatioOf(input, output)) || t('pricing.builtIn')
  const text = isPrice
    ? t('pricing.equalsRatio', { ratio, completion })
    : t('pricing.equalsPrice', {
        input: `$${input}`,
        output: output === '' ? t('pricing.builtIn') : `$${output}`,
      })
  const cost = exampleCost(input, output)
  return (
    <output className="tg-equals">
      <span>{t('pricing.equals', { text })}</span>
      {cost !== '' && <span>{t('pricing.example', { cost: `$${cost}` })}</span>}
    </output>
  )
}

type PriceDrawerProps = Omit<FieldsProps, 'form'> & {
  edited: PriceRow | 'new' | null
  /** The names of all models that have a price. The name of a new model must not be one of them. */
  existingNames: ReadonlySet<string>
  /** The initial name in a form that was opened for a model without a price. */
  newName?: string
  onClose: () => void
  /** `before` is the model's previous name, or null for a new model. */
  onApply: (row: PriceRow, before: string | null) => void
}

export function PriceDrawer(props: PriceDrawerProps) {
  const { lastItem, key } = useDialogItem(props.edited)
  return <OpenDrawer key={key} {...props} row={lastItem ?? 'new'} />
}

function OpenDrawer(props: PriceDrawerProps & { row: PriceRow | 'new' }) {
  const { row } = props
  const { t } = useTranslation()
  const existingNames = useOtherNames(props.existingNames, row === 'new' ? null : row.name)
  const form = useDraftForm<PriceDraft, PriceErrorKey>({
    initial: () => (row === 'new' ? { ...emptyPrice, name: props.newName ?? '' } : draftOfRow(row)),
    validate: (draft, before) => validatePrice(draft, existingNames, before),
    errorText: (errorKey) =>
      t(isSharedErrorKey(errorKey) ? `shared.error.${errorKey}` : `pricing.error.${errorKey}`),
    save: async (draft, before) => {
      if (row === 'new') props.onApply(rowOfDraft(draft), null)
      else props.onApply(changedRow(row, before, draft), row.name)
    },
  })
  return (
    <FormDrawer
      isOpen={props.edited !== null}
      title={t(row === 'new' ? 'pricing.priceAddTitle' : 'pricing.priceTitle')}
      lead={t('pricing.unsavedLead')}
      submitText={t('pricing.apply')}
      form={form}
      onClose={props.onClose}
    >
      <PriceFields
        capFallback={props.capFallback}
        mediaPricesOf={props.mediaPricesOf}
        unitOfPrice={props.unitOfPrice}
        form={form}
      />
    </FormDrawer>
  )
}

const useOtherNames = (
  existingNames: ReadonlySet<string>,
  own: string | null,
): ReadonlySet<string> =>
  useMemo(() => new Set([...existingNames].filter((name) => name !== own)), [existingNames, own])
