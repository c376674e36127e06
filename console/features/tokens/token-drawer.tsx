import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiError } from '#console/api/api-error.ts'
import { call } from '#console/api/client.ts'
import { tokensKey } from '#console/api/token-and-redemption-queries.ts'
import { FormDrawer } from '#console/ui/dialogs/form-drawer.tsx'
import { useAmountUnit } from '#console/ui/forms/amount-field.tsx'
import { FieldError, useDraftForm } from '#console/ui/forms/use-draft-form.ts'
import { showSuccess } from '#console/ui/messages/toast.ts'
import type { AmountUnit } from '#console/ui/quota/convert-entered-amount.ts'
import { exactQuotaText, quotaOf } from '#console/ui/quota/money.ts'
import type { Token } from '#read-api/contract/tokens.ts'
import {
  createTokenBody,
  draftOfToken,
  newToken,
  type ShownBudget,
  type TokenDraft,
  tokenErrors,
  updateTokenBody,
} from './token-draft.ts'
import { TokenForm } from './token-form.tsx'
import type { CreatedToken } from './token-keys-and-setup-drawer.tsx'

type TokenDrawerProps = {
  edited: Token | 'new' | null
  onClose: () => void
  /** Receives the created tokens with their keys, in the order of creation. */
  onCreated: (tokens: readonly CreatedToken[]) => void
}

export function TokenDrawer(props: TokenDrawerProps) {
  const last = useRef<Token | 'new'>('new')
  if (props.edited !== null) last.current = props.edited
  const key = last.current === 'new' ? 'new' : last.current.id
  return <OpenDrawer key={`${key}-${props.edited === null}`} {...props} token={last.current} />
}

function OpenDrawer(props: TokenDrawerProps & { token: Token | 'new' }) {
  const { t } = useTranslation()
  const { token } = props
  const isNew = token === 'new'
  const unit = useAmountUnit()
  const form = useDraftForm<TokenDraft>({
    initial: () => (isNew ? newToken(unit) : draftOfToken(token, unit)),
    validate: (draft, { expiresAt }) => tokenErrors(t, draft, unit, expiresAt),
    save: useSave(props, unit),
    onRepeat: props.onClose,
  })
  return (
    <FormDrawer
      isOpen={props.edited !== null}
      title={isNew ? t('tokens.create') : t('tokens.editTitle')}
      lead={isNew ? t('tokens.createLead') : token.name}
      submitText={t(isNew ? 'tokens.createAction' : 'shared.saveChanges')}
      form={form}
      onClose={props.onClose}
    >
      <TokenForm form={form} unit={unit} isNew={isNew} />
    </FormDrawer>
  )
}

function useSave(props: TokenDrawerProps & { token: Token | 'new' }, unit: AmountUnit) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const update = useUpdate(props.token, unit)
  const create = async (draft: TokenDraft) => {
    const terms = createTokenBody(draft, unit)
    const body = { ...terms, count: Number(draft.count) }
    const { ids, names, keys } = await call('POST /api/token/', { body })
    await client.invalidateQueries({ queryKey: tokensKey })
    const { group = '', model_limits_enabled = false, model_limits = '' } = terms
    const shared = { group, model_limits_enabled, model_limits }
    props.onCreated(
      ids.map((id, at) => ({ id, name: names[at] ?? '', key: keys[at] ?? '', ...shared })),
    )
  }
  return async (draft: TokenDraft, before: TokenDraft) => {
    if (props.token === 'new') return create(draft)
    await update(draft, before)
    await client.invalidateQueries({ queryKey: tokensKey })
    showSuccess(t('shared.saved'))
    props.onClose()
  }
}

/**
 * Returns a function that saves an edited token. If another edit has changed the token's budget in
 * the meantime, the form shows the new amount, and the user must save again.
 */
function useUpdate(token: Token | 'new', unit: AmountUnit) {
  const { t } = useTranslation()
  const id = token === 'new' ? 0 : token.id
  const shownBudget = useRef(token === 'new' ? { quota: 0, version: 0 } : budgetOf(token))
  const conflictOf = async () => {
    shownBudget.current = budgetOf(await call('GET /api/token/:id', { params: { id } }))
    const rule = { quotaPerUnit: unit.quotaPerUnit.toString(), isCurrency: unit.isCurrency }
    const amount = exactQuotaText(quotaOf(shownBudget.current.quota), rule)
    return new FieldError({ amount: t('tokens.error.amountChangedByEdit', { amount }) })
  }
  return async (draft: TokenDraft, before: TokenDraft) => {
    const changed = updateTokenBody(before, draft, unit, shownBudget.current)
    if (Object.keys(changed).length === 0) return
    try {
      await call('PUT /api/token/', { body: { id, ...changed } })
    } catch (error) {
      const hasBudgetChanged = error instanceof ApiError && error.code === 'TokenBudgetMoved'
      throw hasBudgetChanged ? await conflictOf() : error
    }
  }
}

const budgetOf = ({ remain_quota: quota, budget_version: version }: Token): ShownBudget => ({
  quota,
  version,
})
