import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { Icon } from '#console/ui/elements/icons.tsx'
import { LabelledValues } from '#console/ui/elements/labelled-value.tsx'
import { TableHead } from '#console/ui/elements/table-head.tsx'
import { Time } from '#console/ui/elements/time.tsx'
import { Segmented } from '#console/ui/forms/choice-inputs.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { EmptyState } from '#console/ui/layout/empty-state.tsx'
import { Skeleton } from '#console/ui/layout/skeleton.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { PricePreview as Preview } from '#write-api/contract/options.ts'
import { isPriceOption, unsavedPriceEntries } from './unsaved-price-entries.ts'
import type { SettingsForm } from './use-settings-form.ts'

const DAYS = { '24h': 1, '7d': 7, '30d': 30 } as const
type Range = keyof typeof DAYS
const RANGES = ['24h', '7d', '30d'] as const

export function ChargePreview({ form }: { form: SettingsForm }) {
  const { t } = useTranslation()
  const [range, setRange] = useState<Range>('7d')
  const [shownPreview, setShownPreview] = useState<Preview | null>(null)
  const drafts = form.changes.filter(({ key }) => isPriceOption(key))
  const { isBusy, submit } = useSubmit(async () => {
    const entries = unsavedPriceEntries(drafts)
    if (entries === null) return showError(t('settings.checkInput'))
    const to = Math.floor(Date.now() / 1_000)
    const preview = await call('POST /api/option/price_preview', {
      body: {
        prices: Object.fromEntries(drafts.map(({ key, after }) => [key, after])),
        start_timestamp: to - DAYS[range] * 86_400,
        end_timestamp: to,
      },
    })
    setShownPreview(preview)
  })
  const count = (unsavedPriceEntries(drafts) ?? []).length || drafts.length
  return (
    <>
      <p>{count === 0 ? t('pricing.previewNoDraft') : t('pricing.previewDraft', { count })}</p>
      <div className="tg-price-filters">
        <Segmented
          label={t('pricing.previewRange')}
          value={range}
          choices={choicesOf(RANGES, (value) => t(`timeRange.span.${value}`))}
          onChange={(next) => {
            setRange(next)
            setShownPreview(null)
          }}
        />
        <Button tone="primary" isBusy={isBusy} onClick={() => void submit()}>
          {t('pricing.previewRun')}
        </Button>
      </div>
      {isBusy && <Skeleton height={280} />}
      {!isBusy && shownPreview !== null && <PreviewResult preview={shownPreview} />}
    </>
  )
}

function PreviewResult({ preview }: { preview: Preview }) {
  const { t } = useTranslation()
  const { refused, models, users } = preview
  if (preview.calls === 0) return <EmptyState icon="chart" title={t('pricing.previewNone')} />
  return (
    <>
      {!preview.is_complete && (
        <p className="tg-price-warning" role="alert">
          <Icon name="alert" size={16} />
          <span>
            {t('pricing.previewPartial', { time: '' })}
            <Time at={preview.end_timestamp} style="stamp" />
          </span>
        </p>
      )}
      <ChargePreviewFigures preview={preview} />
      {refused > 0 && (
        <p className="tg-hint">{t('pricing.previewRefusedHint', { count: refused })}</p>
      )}
      <ChargePreviewTable
        title={t('shared.byModel')}
        column={t('ui.model')}
        rows={models.map((row) => ({ name: row.model, ...row }))}
      />
      <ChargePreviewTable
        title={t('shared.byUser')}
        column={t('shared.user')}
        rows={users.map((row) => ({ name: row.username || String(row.user_id), ...row }))}
      />
    </>
  )
}

type Figures = Pick<Preview, 'calls' | 'charged' | 'drafted' | 'refused'>

function ChargePreviewFigures({ preview }: { preview: Figures }) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const money = useExactMoney()
  return (
    <LabelledValues
      className="tg-preview-sums"
      values={[
        [t('shared.calls'), number.format(preview.calls)],
        [t('pricing.previewCharged'), money(preview.charged)],
        [t('pricing.previewAtDraft'), money(preview.drafted)],
        [t('shared.difference'), differenceText(preview, money)],
      ]}
    />
  )
}

function ChargePreviewTable(props: {
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
            t('shared.difference'),
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
