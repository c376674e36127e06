import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { StatusTag, type Tone } from '#console/ui/status-tag.tsx'
import type { Token } from '#read-api/contract/token.ts'
import { namesOf } from './token-draft.ts'
import { type TokenState, tokenState } from './token-status.ts'

const TONES: Readonly<Record<TokenState, Tone>> = {
  enabled: 'good',
  restricted: 'info',
  disabled: 'neutral',
  expired: 'warn',
  exhausted: 'bad',
  unknown: 'neutral',
}

export function TokenStateTag(props: { token: Token }): ReactElement {
  const { t } = useTranslation()
  const state = tokenState(props.token)
  const tag = <StatusTag tone={TONES[state]}>{t(`tokens.state.${state}`)}</StatusTag>
  if (state !== 'restricted') return tag
  return <span title={namesOf(props.token.model_limits).join('\n')}>{tag}</span>
}
