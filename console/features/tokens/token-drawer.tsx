import { useQueryClient } from '@tanstack/react-query'
import { type ReactElement, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { useStatus } from '#console/api/status.ts'
import { tokensKey } from '#console/api/tokens.ts'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { focusFirstFault, useSubmit } from '#console/ui/forms/use-submit.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import { type AmountUnit, amountUnitOf } from '#console/ui/quota/quota-amount.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import {
  changedTerms,
  draftOfToken,
  newToken,
  type TokenDraft,
  type TokenFaults,
  termsOfDraft,
  tokenFaults,
} from './token-draft.ts'
import { TokenForm } from './token-form.tsx'
import type { ReadyToken } from './token-ready.tsx'

type TokenDrawerProps = {
  edited: Token | 'new' | null
  onClose: () => void
  /** Receives the created tokens with their keys in the order of creation. */
  onCreated: (tokens: readonly ReadyToken[]) => void
}

/** Creates tokens or edits a token. Each opening mounts the form again with its initial values. */
export function TokenDrawer(props: TokenDrawerProps): ReactElement | null {
  const last = useRef<Token | 'new'>('new')
  if (props.edited !== null) last.current = props.edited
  const key = last.current === 'new' ? 'new' : last.current.id
  return <OpenDrawer key={`${key}-${props.edited === null}`} {...props} token={last.current} />
}

function OpenDrawer(props: TokenDrawerProps & { token: Token | 'new' }): ReactElement {
  const { t } = useTranslation()
  const status = useStatus()
  const isNew = props.token === 'new'
  const form = useRef<HTMLFormElement>(null)
  const unit = useMemo(
    () => amountUnitOf(status?.display_in_currency ?? true, status?.quota_per_unit ?? 500_000),
    [status?.display_in_currency, status?.quota_per_unit],
  )
  const first = props.token === 'new' ? newToken(unit) : draftOfToken(props.token, unit)
  const [before] = useState<TokenDraft>(first)
  const [draft, setDraft] = useState<TokenDraft>(before)
  const [faults, setFaults] = useState<TokenFaults>({})
  const save = useSave(props, unit)
  const { isBusy, submit } = useSubmit(async () => {
    const found = tokenFaults(draft, unit, before.expiresAt)
    setFaults(found)
    if (Object.keys(found).length > 0) return focusFirstFault(form)
    await save(before, draft)
  }, props.onClose)
  const change = (patch: Partial<TokenDraft>) => {
    const next = { ...draft, ...patch }
    setDraft(next)
    if (Object.keys(faults).length > 0) setFaults(tokenFaults(next, unit, before.expiresAt))
  }
  const isChanged = JSON.stringify(draft) !== JSON.stringify(before)
  return (
    <FormDrawer
      isOpen={props.edited !== null}
      title={isNew ? t('tokens.create') : t('tokens.editTitle')}
      lead={props.token === 'new' ? t('tokens.createLead') : props.token.name}
      submitText={t(isNew ? 'tokens.createAction' : 'words.saveChanges')}
      form={{ ref: form, isChanged, isBusy, submit: () => void submit() }}
      onClose={props.onClose}
    >
      <TokenForm draft={draft} faults={faults} unit={unit} isNew={isNew} onChange={change} />
    </FormDrawer>
  )
}

function useSave(props: TokenDrawerProps & { token: Token | 'new' }, unit: AmountUnit) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const create = async (draft: TokenDraft) => {
    const terms = termsOfDraft(draft, unit)
    const { ids, names, keys } = await call('POST /api/token/', {
      body: { ...terms, count: Number(draft.count) },
    })
    await client.invalidateQueries({ queryKey: tokensKey })
    const { group = '', model_limits_enabled = false, model_limits = '' } = terms
    const shared = { group, model_limits_enabled, model_limits }
    const made = ids.map((id, at) => ({
      id,
      name: names[at] ?? '',
      key: keys[at] ?? '',
      ...shared,
    }))
    props.onCreated(made)
  }
  return async (before: TokenDraft, draft: TokenDraft) => {
    if (props.token === 'new') return create(draft)
    const changed = changedTerms(before, draft, unit)
    if (Object.keys(changed).length > 0)
      await call('PUT /api/token/', { body: { id: props.token.id, ...changed } })
    await client.invalidateQueries({ queryKey: tokensKey })
    showSuccess(t('words.saved'))
    props.onClose()
  }
}
