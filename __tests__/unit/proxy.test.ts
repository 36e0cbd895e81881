// Which proxy a URL takes.
import { afterEach, describe, expect, test } from '@jest/globals'
import { type ProxyVariables, proxyFor } from '../../src/net/proxy.js'

const SERVICE = new URL('https://api.example.com/v1')
const proxies = (...values: string[]): ProxyVariables =>
  values.map((value, index) => ({ name: `PROXY_${index}`, value }))

afterEach(() => {
  delete process.env.NO_PROXY
})

test.each([
  [[], undefined],
  [['', ' \t'], undefined],
  [['http://proxy.example.com:3128'], 'http://proxy.example.com:3128/'],
  [['https://user:pass@proxy.example.com'], 'https://user:pass@proxy.example.com/'],
  [['  proxy.example.com:3128\n'], 'http://proxy.example.com:3128/'],
  [[' ', 'one:1', 'two:2'], 'http://one:1/'],
])('with the variables %j it is %s', (values, proxy) => {
  expect(proxyFor(SERVICE, proxies(...values))?.href).toBe(proxy)
})

describe('no proxy is used', () => {
  test('for a host in NO_PROXY, whatever the variable is', () => {
    process.env.NO_PROXY = 'example.com'
    for (const value of ['http://proxy:1', 'socks5://proxy:1'])
      expect(proxyFor(SERVICE, proxies(value))).toBeUndefined()
    expect(proxyFor(new URL('https://example.org'), proxies('http://proxy:1'))?.host).toBe('proxy:1')
  })

  test('for loopback', () => {
    expect(proxyFor(new URL('http://127.0.0.1:8080'), proxies('http://proxy:1'))).toBeUndefined()
  })
})

test.each(['socks5://proxy:1', 'ftp://proxy:1', 'xhttp://proxy:1', 'httpsx://proxy:1', 'http://', 'a b'])(
  '%j is no HTTP proxy, which ends the step rather than bypassing it',
  (value) => {
    expect(() => proxyFor(SERVICE, proxies('', value))).toThrow(
      expect.objectContaining({
        code: 'network',
        message: 'PROXY_1 is not a valid HTTP proxy URL. Nothing was sent.',
        advice: 'Use http://host:port or http://user:password@host:port, or list the service in NO_PROXY.',
      }),
    )
  },
)
