import { assert } from '../shared/assert.ts'
import type { Decider } from '../shared/decider.ts'
import { refuse } from '../shared/refusal.ts'
import { isSame } from '../shared/same.ts'
import type { CreateToken, TokenCommand } from './commands.ts'
import type { TokenEvent } from './events.ts'
import type { TokenRefusal } from './refusals.ts'
import { initialToken, type KnownToken, type TokenState } from './state.ts'

type Outcome = readonly TokenEvent[] | TokenRefusal

export const tokenDecider: Decider<TokenState, TokenCommand, TokenEvent, TokenRefusal> = {
  initialState: initialToken,
  decide: (command, { token }) => {
    if (command.type === 'CreateToken') return create(command, token)
    const isTheirs = token !== null && !token.isDeleted && token.userId === command.userId
    return isTheirs ? change(command, token) : refuse('TokenUnknown')
  },
  evolve: evolveToken,
}

function create({ type, ...data }: CreateToken, token: KnownToken | null): Outcome {
  if (token !== null) return token.keyRef === data.keyRef ? [] : refuse('TokenExists')
  if (data.terms.name.trim() === '') return refuse('NameRequired')
  return [{ type: 'TokenCreated', v: 1, data }]
}

function change(command: Exclude<TokenCommand, CreateToken>, token: KnownToken): Outcome {
  const { tokenId, userId } = token
  switch (command.type) {
    case 'ChangeTerms': {
      const { terms } = command
      if (terms.name.trim() === '') return refuse('NameRequired')
      if (isSame(terms, token.terms)) return []
      return [{ type: 'TokenTermsChanged', v: 1, data: { tokenId, userId, terms } }]
    }
    case 'EnableToken':
      return token.isEnabled ? [] : [{ type: 'TokenEnabled', v: 1, data: { tokenId, userId } }]
    case 'DisableToken':
      return token.isEnabled ? [{ type: 'TokenDisabled', v: 1, data: { tokenId, userId } }] : []
    case 'DeleteToken':
      return [{ type: 'TokenDeleted', v: 1, data: { tokenId, userId } }]
  }
}

function evolveToken({ token }: TokenState, event: TokenEvent): TokenState {
  if (event.type === 'TokenCreated') {
    const { tokenId, userId, keyRef, terms } = event.data
    return { token: { tokenId, userId, keyRef, terms, isEnabled: true, isDeleted: false } }
  }
  assert(token !== null, `${event.type} before TokenCreated`)
  switch (event.type) {
    case 'TokenTermsChanged':
      return { token: { ...token, terms: event.data.terms } }
    case 'TokenEnabled':
      return { token: { ...token, isEnabled: true } }
    case 'TokenDisabled':
      return { token: { ...token, isEnabled: false } }
    case 'TokenDeleted':
      return { token: { ...token, isDeleted: true } }
  }
}
