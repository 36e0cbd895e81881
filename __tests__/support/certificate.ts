/** Certificates for local services over TLS, in tests and benchmarks. */

import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { generate } from 'selfsigned'

export interface Certificate {
  readonly key: string
  readonly cert: string
  /** The certificate as a file, for NODE_EXTRA_CA_CERTS. */
  readonly file: string
  /** What the server offers: as most of the web, HTTP/2 first. */
  readonly ALPNProtocols: string[]
}

/** A self-signed certificate for 127.0.0.1 and these names. Its file is written into the folder. */
export async function certificateIn(
  folder: string,
  names: readonly string[],
): Promise<Certificate> {
  const pems = await generate([{ name: 'commonName', value: names[0] as string }], {
    keySize: 2048,
    extensions: [
      { name: 'basicConstraints', cA: true },
      {
        name: 'subjectAltName',
        altNames: [
          ...names.map((value) => ({ type: 2 as const, value })),
          { type: 7 as const, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  const file = path.join(folder, 'ca.pem')
  await writeFile(file, pems.cert)
  return { key: pems.private, cert: pems.cert, file, ALPNProtocols: ['h2', 'http/1.1'] }
}
