import { useTranslation } from 'react-i18next'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { Checkbox, RadioCards } from '#console/ui/forms/choice-inputs.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import type { ShownUnit } from '#console/ui/quota/price-unit.ts'
import {
  type BulkErrorKey,
  type BulkField,
  type BulkMode,
  type BulkPriceDraft,
  bulkPriceRows,
  emptyBulkPrice,
  FIELDS_OF,
  rowsLosingFixedPrice,
  validateBulkPrice,
} from './bulk-price-draft.ts'
import { priceOfRatio } from './price-conversion.ts'
import { emptyPrice } from './price-draft.ts'
import { Equivalent } from './price-drawer.tsx'
import type { PriceRow } from './price-rows.ts'
import type { UnitOfPrice } from './use-model-price-unit.ts'

const LABELS = {
  ratio: 'pricing.ratio',
  completionRatio: 'shared.factor.completion',
  cacheRatio: 'pricing.cacheRatio',
} as const satisfies Record<Exclude<BulkField, 'price'>, string>

const HINTS = {
  ratio: 'pricing.bulkRatioHint',
  completionRatio: 'pricing.bulkCompletionHint',
  cacheRatio: 'pricing.bulkCacheHint',
} as const satisfies Record<Exclude<BulkField, 'price'>, string>

type DrawerDraft = BulkPriceDraft & { mode: BulkMode; isSkipping: boolean }

const EMPTY: DrawerDraft = { ...emptyBulkPrice, mode: 'ratio', isSkipping: true }

/**
 * Shows the entered ratios in dollars per million tokens. The dollar price for a completion ratio
 * also depends on the model ratio. This price is therefore shown only if both ratios are entered. A
 * price per call or second is shown in quota units.
 */
function DollarEquivalent({ draft }: { draft: BulkPriceDraft }) {
  const { t } = useTranslation()
  const { ratio, completionRatio, price } = draft
  if (price !== '') {
    return <Equivalent draft={{ ...emptyPrice, mode: 'call', callPrice: price }} />
  }
  if (completionRatio.trim() !== '') {
    return <Equivalent draft={{ ...emptyPrice, mode: 'ratio', ratio, completionRatio }} />
  }
  const input = priceOfRatio(ratio)
  if (input === '' || input.startsWith('-')) return null
  return <output className="tg-equals">{t('pricing.bulkWorth', { input: `$${input}` })}</output>
}

/**
 * Returns the unit of a price that is entered for all rows. If the units of the rows differ,
 * returns both units.
 */
function unitOfAll(rows: readonly PriceRow[], unitOfPrice: UnitOfPrice): ShownUnit {
  const [unit = 'CallOrSecond', ...others] = new Set(rows.map(({ name }) => unitOfPrice(name)))
  return others.length === 0 ? unit : 'CallOrSecond'
}

function EntryChoice(props: {
  mode: BulkMode
  unit: ShownUnit
  onChange: (mode: BulkMode) => void
}) {
  const { t } = useTranslation()
  const { mode, unit, onChange } = props
  const hint = unit === 'CallOrSecond' ? 'bulkCallOrSecondHint' : (`entry${unit}Hint` as const)
  return (
    <RadioCards
      label={t('pricing.entry')}
      value={mode}
      choices={[
        { value: 'ratio', label: t('pricing.entryRatio'), hint: t('pricing.entryRatioHint') },
        { value: 'call', label: t(`pricing.entry${unit}`), hint: t(`pricing.${hint}`) },
      ]}
      onChange={onChange}
    />
  )
}

export function BulkDrawer(props: {
  isOpen: boolean
  rows: readonly PriceRow[]
  unitOfPrice: UnitOfPrice
  onClose: () => void
  onApply: (rows: readonly PriceRow[]) => void
}) {
  const { t } = useTranslation()
  const form = useDraftForm<DrawerDraft, BulkErrorKey>({
    initial: () => EMPTY,
    validate: validateBulkPrice,
    errorText: (errorKey) => t(`shared.error.${errorKey}`),
    save: async (draft) => {
      if (FIELDS_OF[draft.mode].every((field) => draft[field].trim() === '')) {
        throw new Error(t('pricing.bulkEmpty'))
      }
      const ended = draft.isSkipping ? rowsLosingFixedPrice(props.rows, draft) : []
      const rows = props.rows.filter((row) => !ended.includes(row))
      if (rows.length === 0) throw new Error(t('pricing.bulkAllFixed'))
      props.onApply(bulkPriceRows(rows, draft))
      form.reset()
    },
    onClose: props.onClose,
  })
  const { mode } = form.draft
  const unit = unitOfAll(props.rows, props.unitOfPrice)
  const labels = { ...LABELS, price: `pricing.per${unit}Label` } as const
  const hints = { ...HINTS, price: `pricing.per${unit}Hint` } as const
  const ended = rowsLosingFixedPrice(props.rows, form.draft)
  const { value: isSkipping, onChange: setSkipping } = form.field('isSkipping')
  return (
    <FormDrawer
      isOpen={props.isOpen}
      title={t('pricing.bulkTitle', { count: props.rows.length })}
      lead={t('pricing.bulkLead')}
      submitText={t('pricing.apply')}
      form={form}
      onClose={form.close}
    >
      <EntryChoice
        mode={mode}
        unit={unit}
        onChange={(next) => form.change({ ...emptyBulkPrice, mode: next })}
      />
      {FIELDS_OF[mode].map((field) => (
        <TextField
          key={field}
          label={t(labels[field])}
          hint={t(hints[field])}
          inputMode="decimal"
          isMono
          {...form.field(field)}
        />
      ))}
      <DollarEquivalent draft={form.draft} />
      {ended.length > 0 && (
        <Checkbox
          label={t('pricing.bulkSkipFixed', { count: ended.length })}
          hint={t('pricing.bulkSkipFixedHint')}
          isOn={isSkipping}
          onChange={setSkipping}
        />
      )}
    </FormDrawer>
  )
}
