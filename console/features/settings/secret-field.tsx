import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { PasswordInput } from '#console/ui/inputs.tsx'
import type { OptionSchema } from '#read-api/contract/option.ts'
import { useHint } from './setting-hint.tsx'
import type { SettingsForm } from './use-settings-form.ts'
import { useWords } from './use-words.ts'

/** What the server says in place of a secret that is set. */
const SET = '***'

/** A secret goes in and never comes out: left empty it stays, and clearing it is an act. */
export function SecretField(props: { option: OptionSchema; form: SettingsForm }): ReactElement {
  const { form, option } = props
  const { t } = useTranslation()
  const words = useWords()
  const hint = useHint(form)
  const { key } = option
  const value = form.value(key)
  const isCleared = form.isChanged(key) && value === ''
  const isSet = value === SET && !form.isChanged(key)
  const type = (text: string) => (text === '' ? form.reset(key) : form.set(new Map([[key, text]])))
  const placeholder = isCleared ? 'secretCleared' : isSet ? 'secretSet' : 'secretUnset'
  return (
    <FormField label={words(option.label)} hint={hint(option)} error={form.errorText(key)}>
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
