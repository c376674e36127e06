import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { TextAreaField } from '#console/ui/forms/fields.tsx'
import type { FieldState } from '#console/ui/forms/use-draft-form.ts'
import { type JsonErrorKey, unknownMembers } from './json-validation.ts'

/**
 * A field for a JSON object. A member that is not in `knownMembers` causes a warning instead of an
 * error, because the server accepts such a member.
 */
export function JsonField(
  props: FieldState<string> & {
    label: string
    hint: string
    example: string
    validate: (text: string) => JsonErrorKey | null
    knownMembers?: readonly string[]
  },
) {
  const { value, validate, onChange } = props
  const { t } = useTranslation()
  const [ownErrorKey, setOwnErrorKey] = useState(() => validate(value))
  const ownError =
    ownErrorKey === null
      ? undefined
      : t(ownErrorKey === 'notJson' ? 'shared.error.notJson' : `channelForm.error.${ownErrorKey}`)
  const unknown = props.knownMembers === undefined ? [] : unknownMembers(props.knownMembers, value)
  const names = unknown.join(', ')
  return (
    <TextAreaField
      label={props.label}
      hint={
        <>
          {props.hint}
          {names !== '' && (
            <span className="tg-caution">{t('channelForm.unknownSettings', { names })}</span>
          )}
        </>
      }
      error={props.error ?? ownError}
      isMono
      rows={3}
      placeholder={props.example}
      value={value}
      onChange={(text) => {
        onChange(text)
        if (ownErrorKey !== null) setOwnErrorKey(validate(text))
      }}
      onBlur={() => setOwnErrorKey(validate(value))}
    />
  )
}
