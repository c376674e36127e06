import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { groupsQuery } from '#console/api/own-user-group-and-model-queries.ts'
import { PasswordField, SelectField, TextField } from '#console/ui/forms/fields.tsx'
import { choicesOf } from '#console/ui/forms/inputs.tsx'
import { PasskeyProofButton } from '#console/ui/forms/passkey-proof-button.tsx'
import type { FieldState } from '#console/ui/forms/use-draft-form.ts'
import { needsIdentityProof, needsReason, type UserFormProps } from './user-draft.ts'

const NAME_MAX = 64
const DISPLAY_NAME_MAX = 50
/**
 * The maximum length of a password in UTF-16 code units. A longer password is refused and never
 * truncated.
 */
const PASSWORD_MAX = 512

export function UserForm(props: UserFormProps) {
  const { t } = useTranslation()
  return (
    <>
      <fieldset className="tg-form-group">
        {props.kind !== 'self' && <legend>{t('shared.account')}</legend>}
        <NameFields {...props} />
        <PasswordFields {...props} />
      </fieldset>
      {props.kind === 'existing' && (
        <fieldset className="tg-form-group">
          <legend>{t('ui.groupName')}</legend>
          <GroupFields {...props} />
        </fieldset>
      )}
    </>
  )
}

function GroupFields({ form }: UserFormProps) {
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  const names = [...new Set([...groups, form.before.group])]
  return (
    <>
      <SelectField
        label={t('ui.groupName')}
        hint={t('shared.groupHint')}
        choices={choicesOf(names)}
        {...form.field('group')}
      />
      {needsReason(form.before, form.draft) && (
        <ReasonField
          hint={t('users.groupReasonHint')}
          placeholder={t('users.groupReasonPlaceholder')}
          {...form.field('reason')}
        />
      )}
    </>
  )
}

function NameFields({ kind, form }: UserFormProps) {
  const { t } = useTranslation()
  const isNew = kind === 'new'
  return (
    <>
      <TextField
        label={t('auth.name')}
        hint={isNew ? t('auth.nameHint') : t('users.usernameFixed')}
        isRequired={isNew}
        autoFocus={isNew}
        autoComplete="off"
        readOnly={!isNew}
        maxLength={NAME_MAX}
        placeholder={t('users.usernamePlaceholder')}
        {...form.field('username')}
      />
      <TextField
        label={t('shared.displayName')}
        autoComplete="off"
        maxLength={DISPLAY_NAME_MAX}
        placeholder={t('users.displayNamePlaceholder')}
        {...form.field('displayName')}
      />
    </>
  )
}

const PASSWORD_HINTS = {
  new: 'auth.passwordHint',
  existing: 'users.passwordHint',
  self: undefined,
} as const

function PasswordFields({ kind, form }: UserFormProps) {
  const { t } = useTranslation()
  const isByCode = form.draft.proof === 'code'
  const hint = PASSWORD_HINTS[kind]
  return (
    <>
      <PasswordField
        label={t(kind === 'new' ? 'auth.password' : 'ui.newPassword')}
        hint={hint && t(hint)}
        isRequired={kind === 'new'}
        autoComplete="new-password"
        maxLength={PASSWORD_MAX}
        placeholder={t('users.passwordPlaceholder')}
        {...form.field('password')}
      />
      {kind === 'self' && needsIdentityProof(form.draft) && (
        <>
          <PasswordField
            label={t(isByCode ? 'credentials.codeOrRecovery' : 'users.originalPassword')}
            isRequired
            autoComplete={isByCode ? 'one-time-code' : 'current-password'}
            maxLength={PASSWORD_MAX}
            {...form.field('originalPassword')}
          />
          {isByCode && (
            <PasskeyProofButton
              perform={({ passkey }) => form.submitWith({ proof: 'none', passkey })}
            />
          )}
        </>
      )}
    </>
  )
}

export function ReasonField(props: FieldState<string> & { hint: string; placeholder: string }) {
  const { t } = useTranslation()
  return (
    <TextField label={t('users.reason')} isRequired autoComplete="off" maxLength={200} {...props} />
  )
}
