import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { TextField } from '#console/ui/forms/fields.tsx'
import { FieldError, formProps, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { Panel } from '#console/ui/layout/panel.tsx'
import { RangeFilter } from '#console/ui/time-range/range-filter.tsx'
import type { CorrectedPrice } from '#write-api/contract/repricing-and-corrections.ts'
import { periodOf, type Scope, useModelNames } from './call-scope-filters.tsx'
import { CorrectionPreviewPanel, type RequestedPreview } from './correction-preview-panel.tsx'
import { SuggestedField } from './suggested-input.tsx'
import { isInvalidDecimal, labelOf } from './what-if-price-draft.ts'

/**
 * Maps each price field of a correction request to the name of the price factor that the field
 * replaces.
 */
export const FACTOR_BY_PRICE_FIELD = {
  model_ratio: 'model',
  completion_ratio: 'completion',
  cache_ratio: 'cacheRead',
  create_cache_ratio: 'cacheWrite',
  image_ratio: 'image',
  audio_ratio: 'audio',
  audio_completion_ratio: 'audioCompletion',
  image_completion_ratio: 'imageCompletion',
  model_price: 'price',
  group_ratio: 'group',
} as const satisfies Record<keyof CorrectedPrice, string>

type PriceField = keyof typeof FACTOR_BY_PRICE_FIELD
export const PRICE_FIELDS = Object.keys(FACTOR_BY_PRICE_FIELD) as PriceField[]

type Draft = Record<PriceField | 'model' | 'group', string>

const NO_PRICE = Object.fromEntries(PRICE_FIELDS.map((name) => [name, ''])) as Record<
  PriceField,
  string
>

/**
 * The form for correcting the price of past calls. A super admin can apply the correction only
 * after a preview of its changes.
 */
export function CorrectionForm(props: {
  scope: Scope
  /** The initial price in the form. */
  price: CorrectedPrice
  onScope: (patch: Partial<Scope>) => void
  onApplied: () => Promise<void>
  onClose: () => void
}) {
  const { t } = useTranslation()
  const { scope, onScope } = props
  const [previewed, setPreviewed] = useState<RequestedPreview | null>(null)
  const models = useModelNames()
  const form = useDraftForm<Draft>({
    initial: () => ({ ...NO_PRICE, ...props.price, model: scope.model, group: '' }),
    validate: (draft) => ({
      ...(draft.model.trim() === '' ? { model: t('reconciliation.correction.modelMissing') } : {}),
      ...Object.fromEntries(
        PRICE_FIELDS.filter((name) => isInvalidDecimal(draft[name])).map((name) => [
          name,
          t('reconciliation.whatIf.decimalInvalid'),
        ]),
      ),
    }),
    save: async (draft) => {
      const price = priceOf(draft)
      if (Object.keys(price).length === 0) {
        throw new FieldError({ model_ratio: t('reconciliation.correction.priceMissing') })
      }
      const model = draft.model.trim()
      const group = draft.group.trim()
      const body = { ...periodOf(scope.range), model, ...(group === '' ? {} : { group }), price }
      const preview = await call('POST /api/audit/corrections/preview', { body })
      setPreviewed({ key: previewKey(draft, scope), model, at: Date.now() / 1_000, preview })
    },
  })
  // The form opens with the prices of its first model. If the admin selects another model, prices
  // that the admin has not edited are cleared.
  const changeModel = (model: string): void => {
    const isOpened = (name: PriceField) => form.draft[name] === props.price[name]
    const cleared = PRICE_FIELDS.filter(isOpened).map((name) => [name, ''])
    form.change({ model, ...Object.fromEntries(cleared) })
  }
  const isPreviewCurrent = previewed !== null && previewed.key === previewKey(form.draft, scope)
  const submit = (event: FormEvent): void => {
    onScope({ model: form.draft.model.trim() })
    formProps(form).onSubmit(event)
  }
  return (
    <>
      <Panel
        title={t('reconciliation.correction.newTitle')}
        lead={t('reconciliation.correction.newLead')}
        actions={<Button icon="close" label={t('ui.close')} onClick={props.onClose} />}
      >
        <form className="tg-form" {...formProps(form)} onSubmit={submit}>
          <div className="tg-form-row">
            <div className="tg-field">
              <span className="tg-label">{t('reconciliation.correction.period')}</span>
              <RangeFilter range={scope.range} onRange={(range) => onScope({ range })} />
            </div>
            <SuggestedField
              label={t('ui.model')}
              isRequired
              suggestions={models}
              maxLength={200}
              {...form.field('model')}
              onChange={changeModel}
            />
            <TextField
              label={t('reconciliation.correction.group')}
              autoComplete="off"
              maxLength={200}
              {...form.field('group')}
            />
          </div>
          <fieldset className="tg-form-group">
            <legend>{t('reconciliation.correction.price')}</legend>
            <p className="tg-hint">{t('reconciliation.correction.priceHint')}</p>
            <div className="tg-form-row">
              {PRICE_FIELDS.map((name) => (
                <TextField
                  key={name}
                  label={t(`shared.factor.${labelOf(FACTOR_BY_PRICE_FIELD[name])}`)}
                  inputMode="decimal"
                  autoComplete="off"
                  maxLength={22}
                  isMono
                  {...form.field(name)}
                />
              ))}
            </div>
          </fieldset>
          <Button type="submit" tone={isPreviewCurrent ? 'normal' : 'primary'} isBusy={form.isBusy}>
            {t('shared.preview')}
          </Button>
        </form>
      </Panel>
      {isPreviewCurrent && (
        <CorrectionPreviewPanel previewed={previewed} onApplied={props.onApplied} />
      )}
    </>
  )
}

const previewKey = (draft: Draft, { range }: Scope): string => JSON.stringify([draft, range])

const priceOf = (draft: Draft): CorrectedPrice =>
  Object.fromEntries(
    PRICE_FIELDS.map((name) => [name, draft[name].trim()] as const).filter(
      ([, text]) => text !== '',
    ),
  )
