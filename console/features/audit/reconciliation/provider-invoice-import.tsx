import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { invalidFieldOf } from '#console/api/api-error.ts'
import { matchingChannelsQuery } from '#console/api/channels.ts'
import { call } from '#console/api/client.ts'
import { useNumberFormat } from '#console/i18n/use-locale-and-number-format.ts'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { SelectField, TextAreaField, TextField } from '#console/ui/forms/fields.tsx'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { type DraftForm, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { ServerErrorText } from '#console/ui/messages/alert.tsx'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { DataTable } from '../elements/small-tables.tsx'
import {
  type CsvSample,
  DELIMITERS,
  type Delimiter,
  guessColumns,
  PROVIDER_INVOICE_COLUMNS,
  type ProviderInvoiceDraft,
  readSample,
  readSampleWith,
  validateProviderInvoice,
} from './provider-invoice-draft.ts'
import { SuggestedField } from './suggested-input.tsx'

const NO_INVOICE: ProviderInvoiceDraft = {
  ...{ file: null, channel_id: '', delimiter: ',', decimal: '.' },
  ...{ currency: 'USD', dollars: '', models: '', first_day: '', last_day: '' },
  ...{ day: '', model: '', amount: '', tokens: '', request_id: '' },
}

const FILTERS = { keyword: '', model: '', group: '' }

/**
 * The form that imports an invoice. The user selects the CSV file of a provider, and the column for
 * each kind of data.
 */
export function ProviderInvoiceImport(props: {
  isOpen: boolean
  onImported: (id: string) => Promise<void>
  onClose: () => void
}) {
  const { t } = useTranslation()
  const number = useNumberFormat()
  const form = useDraftForm<ProviderInvoiceDraft>({
    initial: () => NO_INVOICE,
    validate: (draft) => validateProviderInvoice(draft),
    save: async ({ file, ...draft }) => {
      if (file === null) return
      const query = { ...draft, channel_id: draft.channel_id.trim() }
      const { id, rows } = await call('POST /api/audit/invoices', { query, file })
      // The message is shown after the navigation, because the navigation closes earlier messages.
      await props.onImported(id)
      showSuccess(t('reconciliation.invoice.imported', { count: rows, rows: number.format(rows) }))
    },
    errorsOf: (error) => {
      const invalid = invalidFieldOf(error)
      const field = FIELDS.find((name) => name === invalid?.name)
      return field === undefined || invalid === null ? null : { [field]: invalid.problem }
    },
    showsFormError: true,
  })
  return (
    <FormDrawer
      isOpen={props.isOpen}
      title={t('reconciliation.invoice.importTitle')}
      lead={t('reconciliation.invoice.importLead')}
      submitText={t('reconciliation.invoice.import')}
      form={form}
      onClose={props.onClose}
    >
      <ServerErrorText text={form.formError} />
      <ProviderInvoiceFields form={form} />
    </FormDrawer>
  )
}

const FIELDS = Object.keys(NO_INVOICE) as (keyof ProviderInvoiceDraft)[]

function ProviderInvoiceFields({ form }: { form: DraftForm<ProviderInvoiceDraft> }) {
  const { t } = useTranslation()
  const [sample, setSample] = useState<CsvSample | null>(null)
  const channels = useQuery(matchingChannelsQuery(FILTERS)).data?.items ?? []
  const { draft, field, change } = form
  const chooseFile = async (file: File | null): Promise<void> => {
    change({ file })
    const read = file === null ? null : await readSample(file)
    setSample(read)
    if (read !== null) change({ file, delimiter: read.delimiter, ...guessColumns(read.header) })
  }
  const chooseDelimiter = async (delimiter: Delimiter): Promise<void> => {
    change({ delimiter })
    if (draft.file === null) return
    const read = await readSampleWith(draft.file, delimiter)
    setSample(read)
    change({ delimiter, ...guessColumns(read.header) })
  }
  return (
    <>
      <FormField label={t('reconciliation.invoice.file')} isRequired error={form.errors.file}>
        {(control) => (
          <input
            {...control}
            type="file"
            accept=".csv,text/csv"
            className="tg-input tg-reconciliation-file"
            onChange={(event) => void chooseFile(event.currentTarget.files?.[0] ?? null)}
          />
        )}
      </FormField>
      <SuggestedField
        label={t('shared.channelId')}
        isRequired
        inputMode="numeric"
        maxLength={15}
        hint={channels.find(({ id }) => String(id) === draft.channel_id.trim())?.name}
        suggestions={channels.map(({ id, name }) => ({ value: String(id), label: name }))}
        {...field('channel_id')}
      />
      <Period form={form} />
      <Columns form={form} sample={sample} />
      <Format form={form} onDelimiter={(delimiter) => void chooseDelimiter(delimiter)} />
    </>
  )
}

/** The fields for the days that the invoice covers. */
function Period({ form: { field } }: { form: DraftForm<ProviderInvoiceDraft> }) {
  const { t } = useTranslation()
  return (
    <fieldset className="tg-form-group">
      <legend>{t('reconciliation.invoice.periodTitle')}</legend>
      <p className="tg-hint">{t('reconciliation.invoice.periodHint')}</p>
      <div className="tg-form-row">
        <TextField
          label={t('reconciliation.margin.firstDay')}
          type="date"
          {...field('first_day')}
        />
        <TextField label={t('reconciliation.margin.lastDay')} type="date" {...field('last_day')} />
      </div>
    </fieldset>
  )
}

/**
 * The fields for the format of the file: the delimiter, the number format, the currency and the
 * names of models.
 */
function Format(props: {
  form: DraftForm<ProviderInvoiceDraft>
  onDelimiter: (delimiter: Delimiter) => void
}) {
  const { t } = useTranslation()
  const { form, onDelimiter } = props
  const { draft, field } = form
  return (
    <fieldset className="tg-form-group">
      <legend>{t('shared.format')}</legend>
      <div className="tg-form-row">
        <SelectField<Delimiter>
          label={t('reconciliation.invoice.delimiter')}
          choices={choicesOf(Object.keys(DELIMITERS) as Delimiter[], (value) =>
            t(`reconciliation.invoice.delimiterName.${DELIMITERS[value]}`),
          )}
          value={draft.delimiter}
          onChange={onDelimiter}
        />
        <SelectField<'.' | ','>
          label={t('reconciliation.invoice.decimal')}
          choices={[
            { value: '.', label: t('reconciliation.invoice.decimalName.point') },
            { value: ',', label: t('reconciliation.invoice.decimalName.comma') },
          ]}
          {...field('decimal')}
        />
        <TextField
          label={t('reconciliation.invoice.currency')}
          autoComplete="off"
          maxLength={3}
          {...field('currency')}
        />
        <TextField
          label={t('reconciliation.invoice.dollars')}
          isRequired={draft.currency !== 'USD'}
          hint={t('reconciliation.invoice.dollarsHint')}
          inputMode="decimal"
          autoComplete="off"
          maxLength={19}
          {...field('dollars')}
        />
      </div>
      <TextAreaField
        label={t('reconciliation.invoice.models')}
        hint={t('reconciliation.invoice.modelsHint')}
        isMono
        rows={3}
        maxLength={4_000}
        placeholder={'{"gpt-4o-2024-11-20": "gpt-4o"}'}
        {...field('models')}
      />
    </fieldset>
  )
}

/**
 * The fields that select the column for each kind of data, and a preview of the first rows with
 * these columns.
 */
function Columns({
  form,
  sample,
}: {
  form: DraftForm<ProviderInvoiceDraft>
  sample: CsvSample | null
}) {
  const { t } = useTranslation()
  const { draft, field } = form
  if (sample === null) {
    return <p className="tg-hint">{t('reconciliation.invoice.columnsHint')}</p>
  }
  const none = { value: '', label: t('reconciliation.invoice.noColumn') }
  const names = [...new Set(sample.header)].filter((name) => name !== '')
  const choices = [none, ...choicesOf(names)]
  const mapped = PROVIDER_INVOICE_COLUMNS.filter((column) => draft[column] !== '')
  return (
    <fieldset className="tg-form-group">
      <legend>{t('reconciliation.invoice.columns')}</legend>
      <div className="tg-form-row">
        {PROVIDER_INVOICE_COLUMNS.map((column, index) => (
          <SelectField
            key={column}
            label={t(`reconciliation.invoice.column.${column}`)}
            isRequired={index < REQUIRED}
            choices={choices}
            {...field(column)}
          />
        ))}
      </div>
      {mapped.length > 0 && sample.rows.length > 0 && (
        <div className="tg-reconciliation-sample">
          <p className="tg-label">{t('reconciliation.invoice.sample')}</p>
          <DataTable
            label={t('reconciliation.invoice.sample')}
            heads={mapped.map((column) => {
              const head = t(`reconciliation.invoice.column.${column}`)
              return column === 'amount' || column === 'tokens' ? { end: head } : head
            })}
            rows={sample.rows.map((row, index) => ({
              key: String(index),
              cells: mapped.map((column) => row[sample.header.indexOf(draft[column])] ?? ''),
            }))}
          />
        </div>
      )}
    </fieldset>
  )
}

const REQUIRED = 3
