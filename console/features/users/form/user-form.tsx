import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { groupsQuery, securityQuery } from '#console/api/account.ts'
import { arePasskeysPossible, proveByPasskey } from '#console/api/auth/passkeys.ts'
import { Button } from '#console/ui/button.tsx'
import { FormField } from '#console/ui/form-field.tsx'
import { PasswordInput, Select, TextInput } from '#console/ui/inputs.tsx'
import { useSubmit } from '#console/ui/use-submit.ts'
import type { UpdateSelf } from '#write-api/contract/users.ts'
import { ReasonField } from '../reason-field.tsx'
import { asksProof, asksReason, type UserFormProps } from './user-draft.ts'

/** The group, and the reason for another one. */
function GroupFields({ before, draft, faults, onChange }: UserFormProps): ReactElement {
  const { t } = useTranslation()
  const groups = useQuery(groupsQuery).data ?? []
  const names = [...new Set([...groups, before.group])]
  return (
    <>
      <FormField label={t('users.group')} hint={t('users.groupHint')}>
        {(control) => (
          <Select
            {...control}
            value={draft.group}
            choices={names.map((name) => ({ value: name, label: name }))}
            onChange={(group) => onChange({ group })}
          />
        )}
      </FormField>
      {asksReason(before, draft) && (
        <ReasonField
          value={draft.reason}
          error={faults.reason && t(`users.fault.${faults.reason}`)}
          placeholder={t('users.groupReasonPlaceholder')}
          onChange={(reason) => onChange({ reason })}
        />
      )}
    </>
  )
}

const NAME_MAX = 64
const SHOWN_NAME_MAX = 50
/** In code units: more is reported, where a field that cuts would change what was pasted. */
const PASSWORD_MAX = 512

/** The fields of a user; the group only where an admin edits somebody by id. */
export function UserForm(props: UserFormProps): ReactElement {
  const { t } = useTranslation()
  return (
    <>
      <fieldset className="tg-form-group">
        {props.kind !== 'self' && <legend>{t('users.account')}</legend>}
        <NameFields {...props} />
        <PasswordFields {...props} />
      </fieldset>
      {props.kind === 'other' && (
        <fieldset className="tg-form-group">
          <legend>{t('users.group')}</legend>
          <GroupFields {...props} />
        </fieldset>
      )}
    </>
  )
}

function NameFields({ kind, draft, faults, refused, onChange }: UserFormProps): ReactElement {
  const { t } = useTranslation()
  const isNew = kind === 'new'
  return (
    <>
      <FormField
        label={t('users.username')}
        hint={isNew ? t('users.usernameHint') : t('users.usernameFixed')}
        error={faults.username ? t(`users.fault.${faults.username}`) : refused.username}
        isRequired={isNew}
      >
        {(control) => (
          <TextInput
            {...control}
            autoFocus={isNew}
            autoComplete="off"
            spellCheck={false}
            readOnly={!isNew}
            maxLength={NAME_MAX}
            placeholder={t('users.usernamePlaceholder')}
            value={draft.username}
            onChange={(username) => onChange({ username })}
          />
        )}
      </FormField>
      <FormField label={t('users.displayName')}>
        {(control) => (
          <TextInput
            {...control}
            autoComplete="off"
            maxLength={SHOWN_NAME_MAX}
            placeholder={t('users.displayNamePlaceholder')}
            value={draft.displayName}
            onChange={(displayName) => onChange({ displayName })}
          />
        )}
      </FormField>
    </>
  )
}

const PASSWORD_HINTS = {
  new: 'users.newPasswordHint',
  other: 'users.passwordHint',
  self: undefined,
} as const

function PasswordFields(props: UserFormProps): ReactElement {
  const { kind, draft, faults, refused, onChange, onProved } = props
  const { t } = useTranslation()
  const isByCode = draft.proof === 'code'
  const hint = PASSWORD_HINTS[kind]
  return (
    <>
      <FormField
        label={t(kind === 'new' ? 'users.password' : 'users.newPassword')}
        hint={hint && t(hint)}
        error={faults.password ? t(`users.fault.${faults.password}`) : refused.password}
        isRequired={kind === 'new'}
      >
        {(control) => (
          <PasswordInput
            {...control}
            autoComplete="new-password"
            maxLength={PASSWORD_MAX}
            placeholder={t('users.passwordPlaceholder')}
            value={draft.password}
            onChange={(password) => onChange({ password })}
          />
        )}
      </FormField>
      {kind === 'self' && asksProof(draft) && (
        <FormField
          label={t(isByCode ? 'security.codeOrRecovery' : 'users.originalPassword')}
          error={
            faults.originalPassword
              ? t(`users.fault.${faults.originalPassword}`)
              : refused.originalPassword
          }
          isRequired
        >
          {(control) => (
            <PasswordInput
              {...control}
              autoComplete={isByCode ? 'one-time-code' : 'current-password'}
              maxLength={PASSWORD_MAX}
              value={draft.originalPassword}
              onChange={(originalPassword) => onChange({ originalPassword })}
            />
          )}
        </FormField>
      )}
      {kind === 'self' && asksProof(draft) && isByCode && <PasskeyProof onProved={onProved} />}
    </>
  )
}

/** In place of a code: saves in the same press. Nothing where there is no passkey to show. */
function PasskeyProof(props: {
  onProved: (proof: UpdateSelf) => Promise<void>
}): ReactElement | null {
  const { t } = useTranslation()
  const has = (useQuery(securityQuery).data?.passkeys.length ?? 0) > 0
  const { isBusy, submit } = useSubmit(async () => {
    const { passkey } = await proveByPasskey()
    await props.onProved(passkey === undefined ? {} : { passkey })
  })
  if (!has || !arePasskeysPossible()) return null
  return (
    <Button tone="quiet" size="small" icon="key" isBusy={isBusy} onClick={() => void submit()}>
      {t('auth.usePasskey')}
    </Button>
  )
}
