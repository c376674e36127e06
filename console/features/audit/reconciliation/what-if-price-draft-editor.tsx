import { useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '#console/api/client.ts'
import { Button } from '#console/ui/elements/button.tsx'
import { TextAreaField } from '#console/ui/forms/fields.tsx'
import { TextInput } from '#console/ui/forms/inputs.tsx'
import { useSubmit } from '#console/ui/forms/use-submit.ts'
import { DataTable } from '../elements/small-tables.tsx'
import { currentPricesQuery, useModelNames } from './call-scope-filters.tsx'
import { SuggestedInput } from './suggested-input.tsx'
import {
  appliesTo,
  type DraftRow,
  draftRowOf,
  isInvalidDecimal,
  labelOf,
  NO_DRAFT,
  TABLE_COLUMNS,
  TABLE_OPTIONS,
  type TableOption,
  type WhatIfPriceDraft,
} from './what-if-price-draft.ts'

type Props = {
  draft: WhatIfPriceDraft
  onDraft: (draft: WhatIfPriceDraft) => void
  isJsonInvalid: boolean
}

/**
 * Edits the prices of a what-if computation. In a table, the user edits the current prices of some
 * models. As JSON, the user can enter any price options.
 */
export function WhatIfPriceDraftEditor({ draft, onDraft, isJsonInvalid }: Props) {
  const { t } = useTranslation()
  const { rows, json } = draft
  const isEmpty = rows.length === 0 && json === ''
  const change = (model: string, option: TableOption, value: string): void =>
    onDraft({
      ...draft,
      rows: rows.map((row) =>
        row.model === model ? { ...row, values: { ...row.values, [option]: value } } : row,
      ),
    })
  return (
    <div className="tg-reconciliation-draft">
      <AddModel draft={draft} onDraft={onDraft} />
      {rows.length === 0 ? (
        <p className="tg-muted">{t('reconciliation.whatIf.empty')}</p>
      ) : (
        <DraftTable
          rows={rows}
          onChange={change}
          onRemove={(model) =>
            onDraft({ ...draft, rows: rows.filter((row) => row.model !== model) })
          }
        />
      )}
      <details open={json !== ''}>
        <summary>{t('reconciliation.whatIf.json')}</summary>
        <TextAreaField
          label={t('reconciliation.whatIf.jsonLabel')}
          hint={t('reconciliation.whatIf.jsonHint')}
          error={isJsonInvalid ? t('reconciliation.whatIf.jsonInvalid') : undefined}
          isMono
          rows={6}
          placeholder={'{"ModelRatio": {"gpt-4o": 1.25}}'}
          value={json}
          onChange={(text) => onDraft({ ...draft, json: text })}
        />
      </details>
      {!isEmpty && (
        <Button tone="quiet" icon="close" onClick={() => onDraft(NO_DRAFT)}>
          {t('reconciliation.whatIf.reset')}
        </Button>
      )}
    </div>
  )
}

/**
 * Adds a model to the table. The new row starts with the model's current price in the group
 * `default` or, if the site has no such group, in its first group.
 */
function AddModel({ draft, onDraft }: Omit<Props, 'isJsonInvalid'>) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const names = useModelNames()
  const [model, setModel] = useState('')
  const add = useSubmit(async (name: string) => {
    if (name === '' || draft.rows.some((row) => row.model === name)) return setModel('')
    const { state } = await client.fetchQuery(currentPricesQuery)
    const group = firstGroup(String(state?.GroupRatio ?? '{}'))
    const query = { model: name, group }
    const { price } = await client.fetchQuery(apiQuery('GET /api/audit/prices', { query }))
    setModel('')
    onDraft({ ...draft, rows: [...draft.rows, draftRowOf(name, price)] })
  })
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    void add.submit(model.trim())
  }
  const unused = names.filter((name) => !draft.rows.some((row) => row.model === name))
  return (
    <form className="tg-reconciliation-add" onSubmit={submit}>
      <SuggestedInput
        aria-label={t('reconciliation.whatIf.model')}
        placeholder={t('reconciliation.whatIf.model')}
        suggestions={unused}
        maxLength={200}
        value={model}
        onChange={setModel}
      />
      <Button type="submit" icon="add" isBusy={add.isBusy}>
        {t('reconciliation.whatIf.add')}
      </Button>
    </form>
  )
}

function firstGroup(json: string): string {
  try {
    const names = Object.keys(JSON.parse(json) as object)
    return names.includes('default') ? 'default' : (names[0] ?? 'default')
  } catch {
    return 'default'
  }
}

function DraftTable(props: {
  rows: readonly DraftRow[]
  onChange: (model: string, option: TableOption, value: string) => void
  onRemove: (model: string) => void
}) {
  const { t } = useTranslation()
  return (
    <DataTable
      label={t('reconciliation.whatIf.title')}
      heads={[
        t('ui.model'),
        ...TABLE_COLUMNS.map((option) => t(`shared.factor.${labelOf(TABLE_OPTIONS[option])}`)),
        t('shared.actions'),
      ]}
      rows={props.rows.map((row) => ({
        key: row.model,
        cells: [
          <ModelName key="model" row={row} />,
          ...TABLE_COLUMNS.map((option) =>
            appliesTo(row, option) ? (
              <PriceInput
                key={option}
                row={row}
                option={option}
                onChange={(value) => props.onChange(row.model, option, value)}
              />
            ) : (
              ''
            ),
          ),
          <Button
            key="remove"
            tone="quiet"
            size="small"
            icon="close"
            label={t('reconciliation.whatIf.remove', { model: row.model })}
            onClick={() => props.onRemove(row.model)}
          />,
        ],
      }))}
    />
  )
}

function ModelName({ row }: { row: DraftRow }) {
  const { t } = useTranslation()
  return (
    <>
      {row.model}
      {row.mode === null && (
        <span className="tg-audit-code">{t('reconciliation.whatIf.unpriced')}</span>
      )}
    </>
  )
}

function PriceInput(props: {
  row: DraftRow
  option: TableOption
  onChange: (value: string) => void
}) {
  const { t } = useTranslation()
  const { row, option, onChange } = props
  const text = row.values[option]
  const isBad = isInvalidDecimal(text)
  const isChanged = text.trim() !== '' && text.trim() !== row.currentValues[option]
  return (
    <TextInput
      className={isChanged ? 'tg-reconciliation-changed' : ''}
      aria-label={`${row.model}: ${t(`shared.factor.${labelOf(TABLE_OPTIONS[option])}`)}`}
      aria-invalid={isBad}
      title={isBad ? t('reconciliation.whatIf.decimalInvalid') : undefined}
      inputMode="decimal"
      autoComplete="off"
      maxLength={22}
      isMono
      placeholder={row.currentValues[option]}
      value={text}
      onChange={onChange}
    />
  )
}
