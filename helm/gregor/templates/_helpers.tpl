{{- define "gregor.name" -}}
{{- if contains "gregor" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-gregor" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gregor.selector" -}}
app.kubernetes.io/name: gregor
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gregor.labels" -}}
{{ include "gregor.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "gregor.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* Before anything else of a release; once, and away again. */}}
{{- define "gregor.hook" -}}
helm.sh/hook: pre-install,pre-upgrade,pre-rollback
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end }}

{{/* JSON is TOML for texts, numbers, booleans and lists of them; tables are written out. */}}
{{- define "gregor.toml" -}}
engine = "cluster"
listen = "0.0.0.0:9100"
data = "/data"
{{- range $name := keys .Values.files | sortAlpha }}
{{ $name }} = "/etc/gregor/files/{{ $name }}"
{{- end }}
{{- range $name := keys (omit .Values.config "hosts") | sortAlpha }}
{{ $name }} = {{ include "gregor.value" (index $.Values.config $name) }}
{{- end }}
{{- range $host := .Values.config.hosts }}

[[host]]
{{- range $name := keys $host | sortAlpha }}
{{ $name }} = {{ include "gregor.value" (index $host $name) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "gregor.value" -}}
{{- if kindIs "map" . -}}
{ {{- range $index, $name := keys . | sortAlpha }}{{ if $index }}, {{ end }}{{ toJson $name }} = {{ toJson (index $ $name) }}{{ end -}} }
{{- else -}}
{{ toJson . }}
{{- end }}
{{- end }}

{{- define "gregor.pod" -}}
serviceAccountName: {{ .account }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pull_secrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "gregor.container" -}}
image: {{ include "gregor.image" .root }}
imagePullPolicy: {{ .root.Values.image.pull_policy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
# So that the pod's status says which setting, secret or server it ended for.
terminationMessagePolicy: FallbackToLogsOnError
env:
  - {name: GREGOR_CONFIG, value: /etc/gregor/config/gregor.toml}
  {{- range $name, $value := .root.Values.env }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
  {{- range $name, $from := .root.Values.secret_env }}
  - {name: {{ $name }}, valueFrom: {secretKeyRef: {name: {{ $from.secret }}, key: {{ $from.key }}}}}
  {{- end }}
volumeMounts:
  - {name: config, mountPath: /etc/gregor/config, readOnly: true}
  {{- if .root.Values.files }}
  - {name: files, mountPath: /etc/gregor/files, readOnly: true}
  {{- end }}
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{/* Who asks the API by its Service is no longer led here when SIGTERM comes. */}}
{{- define "gregor.leave" -}}
preStop: {exec: {command: [sleep, "5"]}}
{{- end }}

{{- define "gregor.volumes" -}}
- name: config
  configMap: {name: {{ .config }}}
{{- with .root.Values.files }}
- name: files
  projected:
    defaultMode: 0440
    sources:
      {{- range $name, $from := . }}
      - secret: {name: {{ $from.secret }}, items: [{key: {{ $from.key }}, path: {{ $name }}}]}
      {{- end }}
{{- end }}
- name: data
  emptyDir: {sizeLimit: 256Mi}
- name: tmp
  emptyDir: {sizeLimit: 256Mi}
{{- end }}
