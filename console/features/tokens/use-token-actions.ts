import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { call } from '#console/api/client.ts'
import { tokensKey } from '#console/api/token-and-redemption-queries.ts'
import { copyText } from '#console/ui/elements/copy-to-clipboard.tsx'
import { fullKey } from '#console/ui/elements/token-key.ts'
import { changeRows } from '#console/ui/lists/cached-rows.ts'
import { confirmDelete, showUndoable } from '#console/ui/lists/edit-delete-and-undo-actions.ts'
import { showError, showInfo, showSuccess } from '#console/ui/messages/toast.ts'
import { useStableCallbacks } from '#console/ui/state/use-stable-callbacks.ts'
import type { Token } from '#read-api/contract/tokens.ts'

export type TokenActions = ReturnType<typeof useTokenActions>

type Handlers = Record<'onEdit' | 'onUse', (token: Token) => void>

export function useTokenActions(handlers: Handlers) {
  const setEnabled = useSwitch()
  const { t } = useTranslation()
  const client = useQueryClient()
  const remove = async (tokens: readonly Token[]) => {
    const title =
      tokens.length === 1
        ? t('tokens.deleteTitle', { name: tokens[0]?.name ?? '' })
        : t('tokens.deleteManyTitle', { count: tokens.length })
    if (!(await confirmDelete(title, t('tokens.deleteBody')))) return false
    try {
      await deleteTokens(tokens.map(({ id }) => id))
      showSuccess(t('tokens.deleted', { count: tokens.length }))
      return true
    } catch (error) {
      showError(error)
      return false
    } finally {
      await client.invalidateQueries({ queryKey: tokensKey })
    }
  }
  const copyKeys = async (tokens: readonly Token[]) => {
    const text = tokens.map(({ key }) => fullKey(key)).join('\n')
    if (await copyText(text)) showSuccess(t('tokens.keysCopied', { count: tokens.length }))
  }
  return useStableCallbacks({ ...handlers, setEnabled, remove, copyKeys })
}

function useSwitch() {
  const { t } = useTranslation()
  const client = useQueryClient()
  const show = (ids: readonly number[], status: number) =>
    changeRows<Token>(client, tokensKey, (token) =>
      ids.includes(token.id) ? { ...token, status } : token,
    )
  const setEnabled = async (tokens: readonly Token[], isEnabled: boolean): Promise<void> => {
    const [status, before] = isEnabled ? ([1, 2] as const) : ([2, 1] as const)
    const switched = tokens.filter((token) => token.status === before)
    const [first] = switched
    if (first === undefined) return showInfo(t('tokens.alreadyInState'))
    const ids = switched.map(({ id }) => id)
    await client.cancelQueries({ queryKey: tokensKey })
    show(ids, status)
    try {
      await switchTokens(ids, status)
    } catch (error) {
      show(ids, before)
      return showError(error)
    }
    await client.invalidateQueries({ queryKey: tokensKey })
    const now = switched.map((token) => ({ ...token, status }))
    const values = { name: first.name, count: switched.length }
    const one = isEnabled ? t('shared.enabledNamed', values) : t('shared.disabledNamed', values)
    const many = isEnabled ? t('tokens.enabledMany', values) : t('tokens.disabledMany', values)
    showUndoable(switched.length === 1 ? one : many, () => setEnabled(now, !isEnabled))
  }
  return setEnabled
}

/** Deletes the tokens with the given ids. If the request fails, none of them is deleted. */
async function deleteTokens(ids: readonly number[]): Promise<void> {
  const [id] = ids
  if (ids.length === 1) await call('DELETE /api/token/:id/', { params: { id } })
  else await call('POST /api/token/batch', { body: { ids: [...ids] } })
}

/**
 * Enables (status 1) or disables (status 2) the tokens with the given ids. If the request fails,
 * none of them is changed.
 */
async function switchTokens(ids: readonly number[], status: 1 | 2): Promise<void> {
  const [id = 0] = ids
  if (ids.length > 1)
    await call('POST /api/token/batch/status', { body: { ids: [...ids], status } })
  else await call('PUT /api/token/', { query: { status_only: true }, body: { id, status } })
}
