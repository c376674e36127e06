import { useTranslation } from 'react-i18next'
import { confirm } from '#console/ui/dialogs/confirm.tsx'
import { Button } from '#console/ui/elements/button.tsx'
import { Switch } from '#console/ui/forms/choice-inputs.tsx'
import { SelectField, TextAreaField, TextField } from '#console/ui/forms/fields.tsx'
import { FormField } from '#console/ui/forms/form-field.tsx'
import { choicesOf, PasswordInput } from '#console/ui/forms/inputs.tsx'
import { quotaText } from '#console/ui/quota/money.ts'
import { useMoneyRule } from '#console/ui/quota/quota.tsx'
import type { OptionSchema } from '#read-api/contract/options.ts'
import { isJson, readableJson } from './json-map.ts'
import { useOptionTexts } from './use-option-texts.ts'
import type { SettingsForm } from './use-settings-form.ts'

/**
 * The text that the server sends in place of a stored secret. The browser never receives the
 * secret.
 */
const STORED_SECRET = '***'

/**
 * Edits a secret. The stored secret is never shown, and an empty field leaves the secret unchanged.
 * A separate button clears the secret.
 */
function SecretField(props: { option: OptionSchema; form: SettingsForm }) {
  const { form, option } = props
  const { t } = useTranslation()
  const texts = useOptionTexts()
  const hint = useSettingHint(form)
  const { key } = option
  const value = form.value(key)
  const isCleared = form.isChanged(key) && value === ''
  const isSet = value === STORED_SECRET && !form.isChanged(key)
  const type = (text: string) => (text === '' ? form.reset(key) : form.set(new Map([[key, text]])))
  const placeholder = isCleared ? 'secretCleared' : isSet ? 'secretSet' : 'secretUnset'
  return (
    <FormField label={texts.label(key)} hint={hint(option)} error={form.errorText(key)}>
      {(control) => (
        <span className="tg-secret">
          <PasswordInput
            {...control}
            isKey
            autoComplete="new-password"
            disabled={!form.mayChange(key)}
            placeholder={t(`settings.${placeholder}`)}
            value={isSet ? '' : value}
            onChange={type}
          />
          {isSet && form.mayChange(key) && (
            <Button onClick={() => form.set(new Map([[key, '']]))}>
              {t('settings.clearSecret')}
            </Button>
          )}
          {isCleared && <Button onClick={() => form.reset(key)}>{t('settings.keepSecret')}</Button>}
        </span>
      )}
    </FormField>
  )
}

type FieldProps = { option: OptionSchema; form: SettingsForm }

export function SettingField({ option, form }: FieldProps) {
  if (option.is_secret) return <SecretField option={option} form={form} />
  switch (option.type.kind) {
    case 'flag':
      return <FlagField option={option} form={form} />
    case 'integer':
    case 'decimal':
    case 'text':
    case 'url':
    case 'link':
    case 'lines':
    case 'choice':
      return <ValueField option={option} form={form} />
    default:
      return <JsonOptionField option={option.key} form={form} />
  }
}

function FlagField({ option, form }: FieldProps) {
  const { t } = useTranslation()
  const texts = useOptionTexts()
  const hint = useSettingHint(form)
  const { key } = option
  const select = async (value: string) => {
    const question = texts.confirm(key, value)
    const isConfirmed =
      question === '' ||
      (await confirm({
        title: texts.label(key),
        body: question,
        confirmText: t('settings.confirmYes'),
        tone: 'danger',
      }))
    if (isConfirmed) form.set(new Map([[key, value]]))
  }
  const shown = hint(option)
  const error = form.errorText(key)
  return (
    <div className="tg-setting-flag">
      <Switch
        label={texts.label(key)}
        {...(shown === undefined ? {} : { hint: shown })}
        isOn={form.value(key) === 'true'}
        isDisabled={!form.mayChange(key)}
        onChange={(isOn) => void select(String(isOn))}
      />
      {error !== undefined && <p className="tg-field-error">{error}</p>}
    </div>
  )
}

function ValueField({ option, form }: FieldProps) {
  const texts = useOptionTexts()
  const hint = useSettingHint(form)
  const label = useLabel(option)
  const { key, type } = option
  const value = form.value(key)
  const shared = {
    label,
    hint: hint(option),
    error: form.errorText(key),
    value,
    disabled: !form.mayChange(key),
    onChange: (text: string) => form.set(new Map([[key, text]])),
    onBlur: () => form.touch(key),
  }
  if (type.kind === 'lines') return <TextAreaField {...shared} rows={rowsOf(value)} />
  if (type.kind === 'choice') {
    const choices = choicesOf(type.choices ?? [], (value) => texts.choice(key, value))
    return <SelectField {...shared} choices={choices} className="tg-input-short" />
  }
  const isAddress = type.kind === 'url' || type.kind === 'link'
  const isNumber = type.kind === 'integer' || type.kind === 'decimal'
  return (
    <TextField
      {...shared}
      {...(isNumber ? { inputMode: 'decimal' as const, className: 'tg-input-short' } : {})}
      {...(isAddress ? { placeholder: 'https://', inputMode: 'url' as const } : {})}
    />
  )
}

const rowsOf = (text: string): number => Math.min(14, Math.max(4, text.split('\n').length))

function useLabel(option: OptionSchema): string {
  const { t } = useTranslation()
  const label = useOptionTexts().label(option.key)
  const units: Readonly<Record<string, string>> = {
    quota: t('settings.unit.quota'),
    dollar: t('settings.unit.dollar'),
    percent: '%',
    second: t('settings.unit.second'),
    minute: t('settings.unit.minute'),
    millisecond: t('settings.unit.millisecond'),
  }
  const unit = units[option.unit]
  return unit === undefined ? label : t('settings.withUnit', { label, unit })
}

const ROWS_MAX = 14
const ROWS_MIN = 4

/**
 * Edits an option as JSON. When the field loses the focus, invalid JSON is reported, and changed
 * JSON is indented.
 */
export function JsonOptionField(props: { option: string; form: SettingsForm }) {
  const { option: key, form } = props
  const texts = useOptionTexts()
  const hint = useSettingHint(form)
  const option = form.option(key)
  if (option === undefined) return null
  const text = form.value(key)
  const rows = Math.min(ROWS_MAX, Math.max(ROWS_MIN, text.split('\n').length))
  return (
    <TextAreaField
      label={texts.label(key)}
      hint={hint(option)}
      error={form.errorText(key)}
      isMono
      rows={rows}
      disabled={!form.mayChange(key)}
      value={text}
      onChange={(next) => form.set(new Map([[key, next]]))}
      onBlur={() => {
        form.touch(key)
        if (form.isChanged(key) && isJson(text)) {
          form.set(new Map([[key, readableJson(text)]]))
        }
      }}
    />
  )
}

const NUMBERS = ['integer', 'decimal']

function useSettingHint(form: SettingsForm): (option: OptionSchema) => string | undefined {
  const { t } = useTranslation()
  const texts = useOptionTexts()
  const rule = useMoneyRule()
  return (option) => {
    const value = form.value(option.key).trim()
    const isNumber = NUMBERS.includes(option.type.kind)
    const parts = [
      option.unit === 'quota' && /^[1-9]\d{0,15}$/.test(value)
        ? t('settings.worth', {
            amount: quotaText(BigInt(value), { ...rule, isCurrency: true }, 4),
          })
        : '',
      texts.help(option.key),
      isNumber && option.default !== '' && option.default !== value
        ? t('settings.isDefault', { value: option.default })
        : '',
      form.mayChange(option.key) || isRootOnly(form, option.section) ? '' : t('settings.rootOnly'),
    ]
    const text = parts.filter((part) => part !== '').join(' ')
    return text === '' ? undefined : text
  }
}

export const isRootOnly = (form: SettingsForm, section: string): boolean =>
  form.optionsOf(section).every(({ key }) => !form.mayChange(key))
